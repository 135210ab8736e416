# Builds with everything, runs with what the server needs. Its database is elsewhere: set DATABASE_URL and JWT_SECRET.
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY patches patches
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build

FROM node:20-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000
WORKDIR /app
COPY package.json package-lock.json ./
COPY patches patches
# Without the embedded Postgres. The driver's patch is applied here too.
RUN npm ci --omit=dev --omit=optional && npm cache clean --force
COPY --from=build /app/dist dist
COPY schema/migrations schema/migrations
COPY src/graphql/playground/steps src/graphql/playground/steps
USER node
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`) \
    .then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
