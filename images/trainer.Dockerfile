# verl with vLLM on GPUs under Ray, and merging its checkpoints.
ARG BASE=docker.io/library/python:3.12-slim-bookworm

FROM ${BASE} AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python3 -m venv /opt/venv
COPY images/locks/trainer.txt images/locks/sentences.txt images/locks/encoder.txt /locks/
RUN /opt/venv/bin/python -m pip install --quiet --no-compile --no-deps --require-hashes -r /locks/trainer.txt \
 && /opt/venv/bin/python -m pip install --quiet --no-compile --no-deps --require-hashes -r /locks/sentences.txt \
 && /opt/venv/bin/python -m pip install --quiet --no-compile --no-deps --require-hashes -r /locks/encoder.txt
# The root file system is read-only where this runs, so that bytecode is made now; unchecked, since file times differ
# between builders. Templates of some packages are no Python and do not compile.
RUN /opt/venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/venv/lib >/dev/null || true
COPY components /app/components
COPY pipelines /app/pipelines
COPY configs /app/configs
COPY LICENSE /app/LICENSE
RUN /opt/venv/bin/python -m compileall -q --invalidation-mode unchecked-hash /app

FROM ${BASE} AS runtime
# KubeRay's default probes are bash, wget and grep; NCCL looks for the verbs libraries at run time.
# Triton compiles its launchers with a C compiler when a kernel first runs, torch.compile what is left to the CPU with a C++ one.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends g++ wget libibverbs1 ibverbs-providers librdmacm1 \
 && rm -rf /var/lib/apt/lists/*
# Sticky and open to all, as /tmp is: a cluster may choose any user id.
RUN mkdir -p /home/gavel /state && chmod 1777 /home/gavel /state
COPY --from=builder /opt/venv /opt/venv
COPY --from=builder /app /app
# An unknown user id has no name, and some packages ask for one. FlashInfer would compile its sampler with nvcc, which is
# not here.
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/app HOME=/home/gavel USER=gavel LOGNAME=gavel GAVEL_STATE=/state \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 MPLCONFIGDIR=/tmp/matplotlib \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility VLLM_USE_FLASHINFER_SAMPLER=0 \
    RAY_USAGE_STATS_ENABLED=0 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 TRITON_CACHE_DIR=/tmp/triton TORCHINDUCTOR_CACHE_DIR=/tmp/inductor
ARG VERSION=0 REVISION=unknown SOURCE="" CREATED=1970-01-01T00:00:00Z BASE_NAME="" BASE_DIGEST=""
ENV GAVEL_REVISION=${REVISION}
LABEL org.opencontainers.image.title="Gavel trainer" \
      org.opencontainers.image.description="GRPO training of Gavel: verl, vLLM, Ray" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.base.name="${BASE_NAME}" \
      org.opencontainers.image.base.digest="${BASE_DIGEST}"
WORKDIR /app
USER 10001:10001
CMD ["python", "-m", "pipelines", "--help"]
