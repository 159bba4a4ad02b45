import net, { type AddressInfo } from 'node:net';

/** What a mail program shows of a header that has encoded words (RFC 2047) in it. */
export function decodeWords(header: string): string {
  const word = /=\?([\w-]+)\?([bq])\?([^?\s]*)\?=/gi;
  return header.replace(/(\?=)\s+(?==\?)/g, '$1').replace(word, (_, _charset, encoding: string, text: string) =>
    /b/i.test(encoding)
      ? Buffer.from(text, 'base64').toString()
      : decodeURIComponent(
          text
            .replaceAll('_', ' ')
            .replaceAll('%', '=25')
            .replace(/=(?=[0-9a-f]{2})/gi, '%'),
        ),
  );
}

/** Speaks as much SMTP as a client needs; `refuse` is its answer to RCPT, `refuseMail` to what follows DATA. */
export class SmtpServer {
  readonly mails: string[] = [];
  /** Who was named as a recipient, mail by mail. */
  readonly recipients: string[] = [];
  refuse?: string;
  refuseMail?: string;
  private readonly server = net.createServer((socket) => {
    let inData = false;
    let text = '';
    const say = (line: string) => socket.write(`${line}\r\n`);
    say('220 test');
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        text += chunk.toString();
        for (;;) {
          const end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n');
          if (end < 0) return;
          const line = text.slice(0, end);
          text = text.slice(end + (inData ? 5 : 2));
          if (inData) {
            if (!this.refuseMail) this.mails.push(line);
            inData = false;
            say(this.refuseMail ?? '250 taken');
          } else if (/^DATA/i.test(line)) {
            inData = true;
            say('354 go on');
          } else if (/^RCPT/i.test(line)) {
            this.recipients.push(/<(.*?)>/.exec(line)?.[1] ?? line);
            say(this.refuse ?? '250 ok');
          } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n');
          else say('250 ok');
        }
      });
  });

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return `smtp://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Headers of the newest mail by name in lower case, unfolded and decoded. */
  headers(): Map<string, string> {
    const [head] = (this.mails.at(-1) ?? '').split('\r\n\r\n');
    const lines = head.replace(/\r\n(?=[ \t])/g, '').split('\r\n');
    return new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), decodeWords(line.slice(line.indexOf(':') + 1).trim())]),
    );
  }

  close(): void {
    this.server.close();
  }
}
