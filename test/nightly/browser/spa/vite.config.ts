import { defineConfig } from 'vite';

export default defineConfig({
  build: { outDir: 'site', minify: false, rolldownOptions: { input: ['apollo.html', 'urql.html'] } },
});
