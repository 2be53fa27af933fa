from morl_envs.rendering.canvas import Canvas

RED = (255, 0, 0)


def test_world_coordinates() -> None:
    canvas = Canvas(1.0, 1.0, (255, 255, 255))
    canvas.disc((0.5, 0.5), 0.1, RED)
    canvas.box((-0.5, -0.5), (0.1, 0.1), (0, 0, 255))
    picture = canvas.array()
    assert picture[136, 376].tolist() == [255, 0, 0]  # right and up: y grows upwards
    assert picture[376, 136].tolist() == [0, 0, 255]
    assert picture[256, 256].tolist() == [255, 255, 255]


def test_the_panel_fills_downwards() -> None:
    for kind in ("disc", "ring", "box", "line"):
        canvas = Canvas(1.0, 1.0, (255, 255, 255))
        blank = canvas.array()
        canvas.line("a title", bold=True)
        canvas.entry("an entry", RED, kind)
        changed = (canvas.array() != blank).any(2)
        assert changed[:, 500:].any()
        assert not changed[:, :490].any()
        assert not changed[60:].any()
