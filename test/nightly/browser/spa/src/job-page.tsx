import { useMemo, useRef, useState } from 'react';
import { BuyTokens } from './buy-tokens';
import { Countdown } from './countdown';
import { oneAtATime } from './live';
import { AWARD, JOB, JOB_EVENTS, SUBMIT_BID } from './documents';
import { Field, Form } from './form';
import { useEvents, useGraph } from './graph';
import type { SendError } from './sign-in';
import { STEPS } from './steps';

export function JobPage({ id }: { id: string }) {
  const graph = useGraph();
  const { data, error, again } = graph.useRead(JOB, { id });
  const send = graph.useWrite();
  const reread = useOneAtATime(again);
  const [pack, setPack] = useState<string | null>();
  const write: typeof send = (document, variables) =>
    send(document, variables)
      .catch((error: SendError) => {
        setPack(error.pack);
        throw error;
      })
      .finally(reread);
  const job = data?.job;
  const positions = job?.timeline.edges.flatMap(({ node }) => node.position ?? []);
  useEvents(JOB_EVENTS, { jobId: id }, positions && (positions.at(-1) ?? '0'), reread);
  if (!job) return <main>{error ?? 'One moment …'}</main>;
  // If the user doesn’t have enough tokens, the error names the pack to buy.
  const allowed = job.availableActions
    .filter((one) => one.allowed || one.reason === 'INSUFFICIENT_TOKENS')
    .map(({ action }) => action);
  return (
    <main>
      <h1>{job.title}</h1>
      <p data-testid="status">{job.status}</p>
      <Countdown upcoming={job.upcoming} />
      {error !== undefined && <p role="alert">{error}</p>}
      <button onClick={() => void again()}>Look again</button>
      <p>{job.description}</p>
      {job.dispute && <p data-testid="dispute">{job.dispute.ending?.how ?? job.dispute.reason}</p>}
      <ul aria-label="Bids">
        {job.bids.edges.map(({ node }) => (
          <li key={node.id}>
            {node.amount} {node.status}
            {allowed.includes('AWARD') && <Form name="Award" send={() => write(AWARD, { id, bidId: node.id })} />}
          </li>
        ))}
      </ul>
      {allowed.includes('SUBMIT_BID') && (
        <Form name="Bid" send={({ amount }) => write(SUBMIT_BID, { jobId: id, input: { amount: Number(amount) } })}>
          <Field name="amount" label="Amount" type="number" />
        </Form>
      )}
      {allowed.map((action) => {
        const step = STEPS[action];
        return (
          step && (
            <Form key={action} name={action} send={({ text = '' }) => step(write, id, text)}>
              {action !== 'PUBLISH' && <Field name="text" label="Words" />}
            </Form>
          )
        );
      })}
      {pack != null && <BuyTokens pack={pack} />}
    </main>
  );
}

/** `work` is another function at every render, but only one runs at a time. */
function useOneAtATime(work: () => Promise<unknown>): () => void {
  const latest = useRef(work);
  latest.current = work;
  return useMemo(() => oneAtATime(() => latest.current()), []);
}
