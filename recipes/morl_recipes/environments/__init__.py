"""Where environments come from: names, Gymnasium ids, files of the user, and a toy. Knows no training."""
