/** A mail server that stores the messages it accepts, and responds as a test wants. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Each header is one line. */
  readonly headers: string;
  /** The decoded content. */
  readonly content: string;
  readonly messageId: string;
}

export interface MailServer {
  readonly url: string;
  readonly inbox: readonly ReceivedMail[];
  /** The response to the next recipients or messages. If undefined, the server accepts them. */
  refuse: { readonly code: number; readonly text: string; readonly at?: 'recipient' | 'message' } | undefined;
  /** How many of them it rejected. */
  refusedCount: number;
  close(): Promise<void>;
}

export async function openMailServer(): Promise<MailServer> {
  const inbox: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, done) => done(refusalAt('recipient')),
    onData(stream, { envelope }, done) {
      const keep = async () => {
        const text = (await buffer(stream)).toString();
        const [headers = ''] = text.split('\r\n\r\n');
        inbox.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          headers: headers.replaceAll(/\r\n[ \t]+/g, ' '),
          content: decoded(text.slice(headers.length)),
          messageId: /^Message-ID: (.+)$/im.exec(headers)?.[1]?.trim() ?? '',
        });
      };
      const refusal = refusalAt('message');
      if (!refusal) return callbackify(keep)(done);
      stream.resume().once('end', () => done(refusal));
    },
  });
  function refusalAt(place: 'recipient' | 'message'): Error | undefined {
    const { code, text, at = 'recipient' } = answers.refuse ?? {};
    if (code === undefined || at !== place) return undefined;
    answers.refusedCount += 1;
    return Object.assign(new Error(text), { responseCode: code });
  }
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const answers: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    inbox,
    refuse: undefined,
    refusedCount: 0,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
  return answers;
}

/** Decodes quoted-printable UTF-8. */
function decoded(text: string): string {
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
