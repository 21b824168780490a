#!/usr/bin/env bash
# Writes the lock files anew from the *.in files. Needs uv (pip install uv). Present pins are kept where they still fit;
# `bash refresh.sh --upgrade` takes the newest versions instead.
set -euo pipefail
cd "$(dirname "$0")"
uv=${UV:-uv}
common=(--generate-hashes --no-emit-index-url --no-annotate --no-header --quiet)
options=(--universal --python-version 3.11 "${common[@]}")
# Wheels of CUDA are made for this system alone; their images have Python 3.12.
cuda=(--python-version 3.12 --python-platform x86_64-manylinux_2_28 --only-binary vllm "${common[@]}")
# torch is chosen by the user, and brings what its build needs.
left_out=(--no-emit-package torch --no-emit-package triton)
for name in bindings pathfinder toolkit; do left_out+=(--no-emit-package "cuda-$name"); done
for name in cublas cuda-cupti cuda-nvrtc cuda-runtime cudnn-cu13 cufft cufile curand cusolver cusparse cusparselt-cu13 \
  nccl-cu13 nvjitlink nvshmem-cu13 nvtx; do left_out+=(--no-emit-package "nvidia-$name"); done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat local.in torch.txt >"$scratch/local.in"
"$uv" pip compile "${options[@]}" "${left_out[@]}" "$scratch/local.in" -o local.txt "$@"
"$uv" pip compile "${options[@]}" "${left_out[@]}" dev.in -o dev.txt "$@"
"$uv" pip compile "${options[@]}" --no-deps models.in -o models.txt "$@"
# What goes into images.
"$uv" pip compile "${options[@]}" tools.in -o tools.txt "$@"
"$uv" pip compile "${options[@]}" --no-deps sentences.in -o sentences.txt "$@"
"$uv" pip compile "${options[@]}" --no-deps encoder.in -o encoder.txt "$@"
for name in serving evaluation trainer; do "$uv" pip compile "${cuda[@]}" "$name.in" -o "$name.txt" "$@"; done
