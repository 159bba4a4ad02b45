import { Module } from '@nestjs/common';
import { InternalTokenModule } from '@aps/platform/crypto';
import { adminProxy } from './admin.proxy';
import { hooksProxy } from './hooks.proxy';
import type { ProxiedPath } from './proxied-path';
import { proxyController } from './proxy.controller';
import { webhooksProxy } from './webhooks.proxy';

/** Every path that the gateway proxies. */
export const PROXIED_PATHS: readonly ProxiedPath[] = [adminProxy, webhooksProxy, hooksProxy];

@Module({ imports: [InternalTokenModule], controllers: PROXIED_PATHS.map(proxyController) })
export class ProxyModule {}
