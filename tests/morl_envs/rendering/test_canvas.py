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
