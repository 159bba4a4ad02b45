import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';
import { configSection, setting } from '@aps/platform/config';
import { destination, pino, stdSerializers, type Logger, type LoggerOptions } from 'pino';
import { z } from 'zod';

export const logConfig = configSection('log', {
  level: setting(
    'LOG_LEVEL',
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
    'Least severe level that is logged',
  ),
});

const FLUSH_MS = 1_000;
let flush: () => Promise<unknown> = () => Promise.resolve();

/**
 * The process's logger: JSON lines on stdout, written asynchronously.
 *
 * Redaction is the second line of defence; the first is that callers log ids and counts, never bodies, prompts or mail.
 */
export function createLogger(app: string): Logger {
  const options: LoggerOptions = {
    level: logConfig.value.level,
    base: { app, pid: process.pid },
    messageKey: 'msg',
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: {
      paths: [
        'authorization',
        'password',
        'token',
        'api_key',
        'secret',
        'headers',
        '*.authorization',
        '*.password',
        '*.token',
        '*.api_key',
        '*.secret',
        '*.headers',
      ],
      censor: '[redacted]',
    },
    serializers: { err: stdSerializers.err, error: (e: unknown) => (e instanceof Error ? stdSerializers.err(e) : e) },
  };
  // Lines are collected and written together: one write per line would cost a request more than its look-up.
  const stdout = destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 200 });
  // The last lines of a process say why it ended.
  process.on('exit', () => stdout.flushSync());
  flush = () => new Promise<void>((resolve) => stdout.flush(() => resolve()));
  return pino(options, stdout);
}

/**
 * Writes the lines that are left, before the process is ended. When whoever reads them is gone they are given up: at its end itself the process
 * would try for ever.
 */
export const flushLogs = (): Promise<unknown> => Promise.race([flush(), sleep(FLUSH_MS, undefined, { ref: false })]);

/** Lets Nest's own `Logger` (and everything that uses it) write through pino. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', message: unknown, rest: unknown[]): void {
    const context = rest.length && typeof rest.at(-1) === 'string' ? (rest.at(-1) as string) : undefined;
    const stack = rest.find((r): r is string => typeof r === 'string' && r.includes('\n'));
    const fields = message instanceof Error ? { err: message } : typeof message === 'object' && message !== null ? { ...message } : {};
    const text = typeof message === 'string' ? message : undefined;
    this.logger[level]({ ...fields, ...(context && context !== stack && { context }), ...(stack && { stack }) }, text);
  }
}
