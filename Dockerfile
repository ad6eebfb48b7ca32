# syntax=docker/dockerfile:1.7@sha256:a57df69d0ea827fb7266491f2813635de6f17269be881f696fbfdf2d83dda33e

# Node.js is needed while building only: it runs Tailwind, wasm-opt and esbuild.
FROM node:20.19.5-bookworm-slim@sha256:9e70124bd00f47dd023e349cd587132ae61892acc0e47ed641416c3e18f401c3 AS node

FROM rust:1.95.0-bookworm@sha256:6258907abe69656e41cd992e0b705cdcfabcbbe3db374f92ed2d47121282d4a1 AS tools
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /spillway
# The toolchain's other half, for WebAssembly, in a layer of its own.
COPY rust-toolchain.toml ./
RUN rustup toolchain install
ARG CARGO_CHEF=0.1.78
RUN CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256 CARGO_PROFILE_RELEASE_OPT_LEVEL=0 \
    cargo install cargo-chef --version "$CARGO_CHEF" --locked \
    && rm -rf /usr/local/cargo/registry

# What the workspace depends on, and nothing that changes with every commit.
FROM tools AS plan
COPY . .
RUN cargo chef prepare --recipe-path /recipe.json

FROM tools AS build
# xtask sets these for Cargo (`BUILD_ENVIRONMENT` in xtask/src/site.rs); a build with others is another one.
ENV LEPTOS_OUTPUT_NAME=spillway \
    LEPTOS_SITE_ROOT=target/site \
    LEPTOS_SITE_PKG_DIR=pkg \
    LEPTOS_SITE_ADDR=127.0.0.1:3000 \
    LEPTOS_RELOAD_PORT=3001 \
    LEPTOS_LIB_DIR=frontend \
    LEPTOS_BIN_DIR=server \
    LEPTOS_JS_MINIFY=true \
    LEPTOS_HASH_FILES=true \
    LEPTOS_HASH_FILE_NAME=hash.txt
COPY --from=plan /recipe.json /recipe.json
# The dependencies of the server and of the browser's half: built again only when Cargo.lock or a Cargo.toml changes.
RUN cargo chef cook --locked --recipe-path /recipe.json --release --package server \
    && cargo chef cook --locked --recipe-path /recipe.json --profile wasm-release --package frontend \
        --target wasm32-unknown-unknown --target-dir target/front
COPY . .
RUN --mount=type=cache,target=/root/.npm cargo xtask build
RUN mkdir -p /image/app/site /image/data \
    && cp target/release/spillway target/release/hash.txt /image/app/ \
    && cp -r target/site/. /image/app/site/

# No shell, no package manager; its user "nonroot" has the number 65532.
FROM gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f
COPY --from=build /image/app /app
# A new named volume takes over the owner of the folder that it is mounted on.
COPY --from=build --chown=65532:65532 /image/data /data
WORKDIR /app
# The site is found beside the program.
ENV SPILLWAY_ADDR=0.0.0.0:3000 \
    SPILLWAY_STORE=embedded:/data
EXPOSE 3000
VOLUME /data
HEALTHCHECK --interval=10s --timeout=6s --start-period=120s --retries=3 CMD ["/app/spillway", "healthcheck"]
ENTRYPOINT ["/app/spillway"]
CMD ["serve"]
