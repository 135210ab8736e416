/** The documented board, with the events of the jobs that the contractor has bid on. */
import { useApolloClient } from '@apollo/client/react';
import { Board } from './apollo-board-list';
import { FollowMyEvents } from './apollo-my-events';
import { useUserId } from './apollo-root';
import { JOB } from './documents';
import { SignIn } from './sign-in-page';

export function BoardPage() {
  const client = useApolloClient();
  const readJob = (id: string) => client.query({ query: JOB, variables: { id }, fetchPolicy: 'network-only' });
  if (useUserId() === undefined) return <SignIn />;
  return (
    <FollowMyEvents onEvent={({ jobId }) => void readJob(jobId)}>
      <Board />
    </FollowMyEvents>
  );
}
