import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: './src/store/tables',
  out: './schema/migrations',
  casing: 'snake_case',
});
