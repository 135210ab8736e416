import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./src/market/store/tables', './src/platform/db/tables'],
  out: './schema/migrations',
  casing: 'snake_case',
});
