# %% wrong: joined without moving back
    B, H, T, d = x.shape
    return x.reshape(B, T, H * d)
# %% wrong: columns of the heads alternate
    return x.permute(0, 2, 3, 1).flatten(2)
# %% wrong: view of numbers that lie otherwise
    B, H, T, d = x.shape
    return x.transpose(1, 2).view(B, T, H * d)
# %% wrong: the wrong pair is joined
    return x.flatten(1, 2)
# %% wrong: heads averaged
    return x.mean(dim=1)
# %% wrong: the last head first
    return torch.cat(x.flip(1).unbind(1), dim=-1)
# %% wrong: transposed twice
    B, H, T, d = x.shape
    return x.transpose(2, 3).transpose(1, 2).reshape(B, T, H * d)
# %% wrong: not joined
    return x.transpose(1, 2)
# %% wrong: three heads hard-coded
    return torch.cat([x[:, 0], x[:, 1], x[:, 2]], dim=-1)
# %% wrong: a width of 12 hard-coded
    x = x.transpose(1, 2).contiguous()
    return x.view(x.shape[0], -1, 12)
# %% wrong: sequence 0 for the whole batch
    B = x.shape[0]
    one = torch.cat(list(x[0]), dim=-1)
    return one.expand(B, -1, -1)
# %% wrong: index -h: heads 0, last, …, 1
    return torch.cat([x[:, -h] for h in range(x.shape[1])], dim=-1)
# %% wrong: the loop stops before the last head
    B, H, T, d_v = x.shape
    out = x.new_zeros(B, T, H * d_v)
    for h in range(H - 1):
        out[:, :, h * d_v:(h + 1) * d_v] = x[:, h]
    return out
# %% wrong: squeeze drops dimensions of 1
    return torch.cat(x.split(1, dim=1), dim=-1).squeeze()
# %% wrong: heads averaged, then repeated
    H = x.shape[1]
    return x.mean(1).repeat(1, 1, H)
# %% wrong: head h written at column h, not h * d_v
# like: the loop stops before the last head
# (H - 1) → (H)
# h * d_v:(h + 1) * d_v → h:h + d_v
# %% wrong: positions and columns swapped
    B, H, T, d_v = x.shape
    return x.transpose(2, 3).reshape(B, T, H * d_v)
# %% wrong: a batch of two hard-coded
    first = x[0].transpose(0, 1).flatten(1)
    second = x[1].transpose(0, 1).flatten(1)
    return torch.stack([first, second])
# %% wrong: a list of sequences
    return [torch.cat(list(one), dim=-1) for one in x]
# %% right: permute and reshape
    B, H, T, d = x.shape
    return x.permute(0, 2, 1, 3).reshape(B, T, H * d)
# %% right: contiguous, then view
    B, H, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, -1)
# %% right: heads side by side
    return torch.cat([x[:, h] for h in range(x.size(1))], dim=2)
# %% right: writes into slices
    B, H, T, d = x.shape
    out = torch.empty(B, T, H * d, dtype=x.dtype)
    for h in range(H):
        out[..., h * d : h * d + d] = x[:, h]
    return out
# %% right: placed by a matrix of zeros and ones
    _, H, _, d_v = x.shape
    place = torch.eye(H * d_v, dtype=x.dtype).reshape(H, d_v, -1)
    return torch.einsum("bhtd,hdm->btm", x, place)
# %% right: one sequence at a time
    return torch.stack([torch.hstack(list(one)) for one in x])
# %% right: in single precision
# like: writes into slices
# empty(B, T, H * d, dtype=x.dtype) → zeros(B, T, H * d)
# [..., h * d : h * d + d] → [:, :, h * d : (h + 1) * d]
# %% right: through NumPy
import numpy as np


def merge_heads(x):
    return torch.from_numpy(np.concatenate(list(x.numpy().swapaxes(0, 1)), -1))
