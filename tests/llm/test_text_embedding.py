import torch

from cosyvoice.llm.text_embedding import FloatTextEmbedding, Int8TextEmbedding


def test_rows_come_out_in_the_order_of_the_ids_as_float32() -> None:
    table = torch.arange(12.0, dtype=torch.bfloat16).view(4, 3)
    found = FloatTextEmbedding(table)([2, 0, 2])
    torch.testing.assert_close(found, torch.tensor([[6.0, 7.0, 8.0], [0.0, 1.0, 2.0], [6.0, 7.0, 8.0]]))


def test_int8_rows_are_scaled_each_by_its_own_number() -> None:
    rows = torch.tensor([[1, -2], [127, -127]], dtype=torch.int8)
    found = Int8TextEmbedding(rows, torch.tensor([0.5, 0.01]))([1, 0])
    torch.testing.assert_close(found, torch.tensor([[1.27, -1.27], [0.5, -1.0]]))


def test_no_ids_give_no_rows() -> None:
    assert FloatTextEmbedding(torch.ones(4, 3))([]).shape == (0, 3)
    assert Int8TextEmbedding(torch.ones(4, 3, dtype=torch.int8), torch.ones(4))([]).shape == (0, 3)
