/** A mail server that keeps what it takes, and answers as a test wants. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import { SMTPServer } from 'smtp-server';

export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly headers: string;
  /** With the encoding of its parts undone. */
  readonly content: string;
  readonly messageId: string;
}

export interface MailServer {
  readonly url: string;
  readonly taken: readonly TakenMail[];
  /** What the next recipients are answered; undefined takes them. */
  refuse: { readonly code: number; readonly text: string } | undefined;
  /** How many recipients were refused. */
  refusedCount: number;
  close(): Promise<void>;
}

export async function openMailServer(): Promise<MailServer> {
  const taken: TakenMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo(_address, _session, done) {
      if (!answers.refuse) return done();
      answers.refusedCount += 1;
      done(Object.assign(new Error(answers.refuse.text), { responseCode: answers.refuse.code }));
    },
    onData(stream, { envelope }, done) {
      const keep = async () => {
        const text = (await buffer(stream)).toString();
        const [headers = ''] = text.split('\r\n\r\n');
        taken.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          headers,
          content: decoded(text.slice(headers.length)),
          messageId: /^Message-ID: (.+)$/im.exec(headers)?.[1]?.trim() ?? '',
        });
      };
      callbackify(keep)(done);
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const answers: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    taken,
    refuse: undefined,
    refusedCount: 0,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
  return answers;
}

/** Of quoted-printable; all texts are ASCII. */
function decoded(text: string): string {
  return text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
