# The program in a small image: `docker build -t posemill .`, then
# `docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/w" posemill run pipelines/demo.toml`.
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
ENV CARGO_PROFILE_RELEASE_STRIP=symbols
RUN cargo build --release --locked --bin posemill
# The program with the C library that it was linked with, each file at its own path.
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN mkdir -p /out/usr/bin && cp target/release/posemill /out/usr/bin/ \
    && ldd target/release/posemill | grep -o '/[^ ]*' | xargs cp --parents --dereference --target-directory /out

# A shell of 2 MB, for jobs that compute their arguments (docs/batches.md).
FROM busybox:1.36-musl
COPY --from=build /out/ /
# Nobody in particular; `docker run --user` names the owner of the folder that is mounted.
USER 65532:65532
WORKDIR /w
ENTRYPOINT ["posemill"]
