import { AWARD, JOB, SUBMIT_BID } from './documents';
import { Field, Form } from './form';
import { useGraph } from './graph';
import { STEPS } from './steps';

const POLL_MS = 500;

export function JobPage({ id }: { id: string }) {
  const graph = useGraph();
  const { data, error } = graph.useRead(JOB, { id }, POLL_MS);
  const write = graph.useWrite();
  const job = data?.job;
  if (!job) return <main>{error ?? 'One moment …'}</main>;
  const allowed = job.availableActions.filter((one) => one.allowed).map(({ action }) => action);
  return (
    <main>
      <h1>{job.title}</h1>
      <p data-testid="status">{job.status}</p>
      {error !== undefined && <p role="alert">{error}</p>}
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
    </main>
  );
}
