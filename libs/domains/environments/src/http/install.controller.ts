import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '@aps/guards';
import { Operation, type OtherAnswer } from '@aps/platform/http';
import { daemonApiUrl } from '../environments.config';

const text = (mediaType: string, description: string): OtherAnswer => ({ mediaType, description, schema: { type: 'string' }, models: [] });

/** Beside the bundle, or in the build (`PROGRAMS` in tools/dev/lib/bundle.mjs); read once. */
const read = new Map<string, string>();
function programOf(file: string): string {
  const beside = path.join(__dirname, file);
  const [root] = __dirname.split(/(?:\/dist)?\/libs\/domains\/environments\//);
  const known = read.get(file) ?? readFileSync(existsSync(beside) ? beside : path.join(root, 'dist/sent', file), 'utf8');
  read.set(file, known);
  return known;
}

/** By what remote machines get their daemon. */
@ApiTags('Environments')
@Controller('api/daemon')
@Public()
export class InstallController {
  @Get('install.sh')
  @Header('Content-Type', 'text/x-shellscript; charset=utf-8')
  @Operation({
    summary: 'Read what installs the daemon of a remote machine',
    description:
      '`curl -fsSL …/api/daemon/install.sh | APS_DAEMON_TOKEN=aed_… sh` installs it for a user and starts it. It needs Node.js 18 or newer.',
    answers: text('text/x-shellscript', 'A script for `sh`.'),
  })
  script(): string {
    // Between single quotes a shell reads nothing but the next one.
    return programOf('install.sh').replace('@API_URL@', () => `'${daemonApiUrl().replaceAll("'", String.raw`'\''`)}'`);
  }

  @Get('daemon.mjs')
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  @Operation({
    summary: 'Read the daemon of remote machines',
    description: 'One file without dependencies, for Node.js 18 or newer.',
    answers: text('text/javascript', 'The program.'),
  })
  daemon(): string {
    return programOf('daemon.mjs');
  }
}
