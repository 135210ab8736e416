/** A form that is disabled while it’s being sent, shows errors, and is empty afterward. */
import { useState, type ReactNode } from 'react';

export function Form({
  name,
  send,
  children,
}: {
  name: string;
  send(fields: Record<string, string>): Promise<unknown>;
  children?: ReactNode;
}) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const submit = async (form: HTMLFormElement) => {
    setBusy(true);
    setProblem('');
    try {
      const fields = Array.from(new FormData(form).entries(), ([key, value]) => [key, String(value)] as const);
      await send(Object.fromEntries(fields));
      form.reset();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      aria-label={name}
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      {children}
      <button disabled={busy}>{name}</button>
      {problem !== '' && <p role="alert">{problem}</p>}
    </form>
  );
}

export function Field({ name, label, type = 'text' }: { name: string; label: string; type?: string }) {
  return (
    <label>
      {label} <input name={name} type={type} required />
    </label>
  );
}
