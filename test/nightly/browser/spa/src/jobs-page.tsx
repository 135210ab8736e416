import { useEffect, useEffectEvent } from 'react';
import { CREATE_JOB, JOBS } from './documents';
import { Field, Form } from './form';
import { useGraph } from './graph';
import { SavedSearches } from './saved-searches';

/** Fetches the jobs again after another user's action. */
export function JobsPage({ mayPost, maySearch, news }: { mayPost: boolean; maySearch: boolean; news: number }) {
  const graph = useGraph();
  const { data, error, again } = graph.useRead(JOBS, {});
  const write = graph.useWrite();
  const readAgain = useEffectEvent(() => void again());
  useEffect(() => {
    if (news > 0) readAgain();
  }, [news]);
  return (
    <main>
      <h1>Jobs</h1>
      {mayPost && (
        <Form name="Post a job" send={({ title = '' }) => write(CREATE_JOB, { input: { ...EXAMPLE, title } })}>
          <Field name="title" label="Title" />
        </Form>
      )}
      {maySearch && <SavedSearches />}
      <button onClick={() => void again()}>Look again</button>
      {error !== undefined && <p role="alert">{error}</p>}
      <ul>
        {data?.jobs?.edges.map(({ node }) => (
          <li key={node.id}>
            <a href={`#/jobs/${node.id}`}>{node.title}</a> {node.status} {node.bidCount}
          </li>
        ))}
      </ul>
      <p data-testid="total">{data?.jobs?.totalCount}</p>
    </main>
  );
}

const EXAMPLE = {
  description: 'It lets the rain in.',
  category: 'roofing',
  urgency: 'STANDARD',
  addressLine1: '12 Oak Lane',
  city: 'Austin',
  state: 'TX',
} as const;
