# %% wrong: reshaped at once
    B, T, d = x.shape
    return x.view(B, heads, T, d // heads)
# %% wrong: not moved in front
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads)
# %% wrong: columns dealt out like cards
    B, T, d = x.shape
    return x.view(B, T, d // heads, heads).permute(0, 3, 1, 2)
# %% wrong: moved too far, positions last
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads).permute(0, 2, 3, 1)
# %% wrong: heads in front of the batch
    return torch.stack(x.chunk(heads, dim=-1))
# %% wrong: heads taken for their width
    return torch.stack(x.split(heads, dim=-1), dim=1)
# %% wrong: positions cut instead of columns
    B, T, d = x.shape
    return x.transpose(1, 2).reshape(B, heads, T, d // heads)
# %% wrong: a list of heads
    return list(x.chunk(heads, dim=-1))
# %% wrong: every head gets all columns
    return x.unsqueeze(1).expand(-1, heads, -1, -1)
# %% wrong: view after the transpose
    B, T, d = x.shape
    return x.transpose(1, 2).view(B, heads, d // heads, T).transpose(2, 3)[0]
# %% wrong: a width of 4 hard-coded
    B, T, _ = x.shape
    return x.reshape(B, T, -1, 4).transpose(1, 2)
# %% wrong: always three heads
    a, b, c = x.chunk(3, dim=-1)
    return torch.stack([a, b, c], dim=1)
# %% wrong: five positions hard-coded
    B = x.shape[0]
    return x.reshape(B, 5, heads, -1).transpose(1, 2)
# %% wrong: sequence 0 for the whole batch
    B, T, d = x.shape
    d_k = d // heads
    out = x.new_zeros(B, heads, T, d_k)
    for h in range(heads):
        for t in range(T):
            out[:, h, t] = x[0, t, h * d_k:(h + 1) * d_k]
    return out
# %% wrong: the loop stops before the last head
    B, T, d = x.shape
    d_k = d // heads
    out = x.new_zeros(B, heads, T, d_k)
    for h in range(0, heads - 1):
        out[:, h] = x[:, :, h * d_k:(h + 1) * d_k]
    return out
# %% wrong: squeeze drops dimensions of 1
    return torch.stack(x.chunk(heads, dim=-1), dim=1).squeeze()
# %% wrong: divides by √d_k already
    B, T, d = x.shape
    d_k = d // heads
    x = x.reshape(B, T, heads, d_k).transpose(1, 2)
    return x / d_k ** 0.5
# %% wrong: index -h: heads 0, last, …, 1
    parts = x.chunk(heads, dim=-1)
    return torch.stack([parts[-h] for h in range(heads)], dim=1)
# %% wrong: stacked, then reshaped: batch and heads mix
    B, T, d = x.shape
    parts = torch.cat(x.chunk(heads, dim=-1), dim=0)
    return parts.reshape(B, heads, T, d // heads)
# %% wrong: the loop stops before the last sequence
    B, T, d = x.shape
    out = torch.zeros(B, heads, T, d // heads, dtype=x.dtype)
    for b in range(B - 1):
        for h, part in enumerate(x[b].chunk(heads, dim=-1)):
            out[b, h] = part
    return out
# %% right: view and permute
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads).permute(0, 2, 1, 3)
# %% right: chunks on top of one another
    return torch.stack(x.chunk(heads, dim=-1), dim=1)
# %% right: a loop over slices
# like: the loop stops before the last head
# 0, heads - 1 → heads
# %% right: positions last, then cut, then back
    B, T, d = x.shape
    columns = x.mT.contiguous().view(B, heads, d // heads, T)
    return columns.mT
# %% right: unfold cuts windows of columns
    d_k = x.shape[-1] // heads
    return x.unfold(-1, d_k, d_k).permute(0, 2, 1, 3)
# %% right: an index for every column
    columns = torch.arange(x.shape[-1]).reshape(heads, -1)
    return x[:, :, columns].swapaxes(1, 2)
# %% right: einsum moves the axes
    B, T, _ = x.shape
    return torch.einsum("bthd->bhtd", x.view(B, T, heads, -1)).contiguous()
