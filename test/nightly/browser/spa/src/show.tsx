import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

export function show(app: ReactNode): void {
  const root = document.getElementById('root');
  if (root) createRoot(root).render(<StrictMode>{app}</StrictMode>);
}
