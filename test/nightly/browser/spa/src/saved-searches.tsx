/** A contractor’s saved searches. The bell and the list of jobs show what they match. */
import { SAVE_SEARCH, SAVED_SEARCHES } from './documents';
import { Field, Form } from './form';
import { useGraph } from './graph';

export function SavedSearches() {
  const graph = useGraph();
  const { data, again } = graph.useRead(SAVED_SEARCHES, {});
  const send = graph.useWrite();
  const save = async ({ search = '' }: Record<string, string>) => {
    await send(SAVE_SEARCH, { input: { name: search, filter: { search }, alert: 'OFF' } });
    await again();
  };
  return (
    <>
      <Form name="Save a search" send={save}>
        <Field name="search" label="Text" />
      </Form>
      <ul aria-label="Saved searches">
        {data?.viewer?.savedSearches?.nodes.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
    </>
  );
}
