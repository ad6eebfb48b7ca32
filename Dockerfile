# Node.js is needed while building only: it runs Tailwind and wasm-opt.
FROM node:20-bookworm-slim AS node

FROM rust:1.95-bookworm AS build
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /spillway
COPY . .
RUN --mount=type=cache,target=/tools \
    --mount=type=cache,target=/usr/local/cargo/registry \
    SPILLWAY_TOOLS=/tools cargo xtask build
RUN mkdir -p /image/app/site /image/data \
    && cp target/release/spillway target/release/hash.txt /image/app/ \
    && cp -r target/site/. /image/app/site/

# No shell, no package manager; its user "nonroot" has the number 65532.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /image/app /app
# A new named volume takes over the owner of the folder that it is mounted on.
COPY --from=build --chown=65532:65532 /image/data /data
WORKDIR /app
ENV SPILLWAY_ADDR=0.0.0.0:3000 \
    SPILLWAY_STORE=embedded:/data \
    LEPTOS_ENV=PROD \
    LEPTOS_OUTPUT_NAME=spillway \
    LEPTOS_SITE_ROOT=/app/site \
    LEPTOS_SITE_PKG_DIR=pkg \
    LEPTOS_HASH_FILES=true \
    LEPTOS_HASH_FILE_NAME=hash.txt
EXPOSE 3000
VOLUME /data
ENTRYPOINT ["/app/spillway"]
CMD ["serve"]
