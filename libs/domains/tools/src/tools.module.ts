import { Global, Module } from '@nestjs/common';
import { ToolCatalog } from './tool-catalog';

@Global()
@Module({ providers: [ToolCatalog], exports: [ToolCatalog] })
export class ToolsModule {}
