"""Tables, intervals, comparisons, reports and figures. Reads stores and published results only."""
