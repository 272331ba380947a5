# One image for API, worker, migrations and commands; what runs is the command (docker-compose.yml shows each).
# The last stage is the product; `--target development` has the stand-ins as well, for the sandbox provider.
#
# Every stage starts from NODE_IMAGE. The tag moves; a release pins what it was tested with by its digest, which only a
# registry can tell (`docker buildx imagetools inspect node:24-bookworm-slim`), so none is written here:
#   docker build --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:... .
ARG NODE_IMAGE=node:24-bookworm-slim
FROM ${NODE_IMAGE} AS base
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

# The install scripts fetch a Node and binaries for development; the image brings its own Node.
FROM base AS development
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN mkdir dist && PART_OPTIONS='{"file":"/app/dist/workflows.js"}' node dev/bundle.ts \
  && mkdir /var/lib/sandbox && chown node:node /var/lib/sandbox
USER node

FROM base AS dependencies
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM base
ENV NODE_ENV=production WORKFLOW_BUNDLE=/app/dist/workflows.js PORT=3000
COPY --from=dependencies /app/node_modules node_modules
COPY mikro-orm.config.ts ./
COPY src src
COPY workflows workflows
COPY activities activities
COPY --from=development /app/dist dist
# Nothing is written outside /tmp: run it with a read-only root, without capabilities (docker-compose.yml does).
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
CMD ["node", "src/api.ts"]
