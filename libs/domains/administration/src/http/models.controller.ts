import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateModelRequest, ModelCatalogEntryResponse, UpdateModelRequest } from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { PlatformModelsService } from '@aps/inference';
import { toCatalogEntry } from '@aps/inference/http';
import { Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';

@ApiTags('Administration: AI')
@Controller('/api/admin/models')
@PlatformAdmin()
export class AdminModelsController {
  constructor(private readonly models: PlatformModelsService) {}

  @Get()
  @Operation({
    summary: 'List the model catalog',
    description: 'In display order, models of organizations too.',
    answers: [ModelCatalogEntryResponse],
  })
  async list() {
    return (await this.models.list()).map(toCatalogEntry);
  }

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Add a model',
    description: 'A key may be on several routes; one of those models is enabled at a time.',
    answers: ModelCatalogEntryResponse,
    refuses: ['model_conflict', 'unknown_reference', 'kind_not_served', 'replacement_cycle'],
  })
  async create(@CurrentOperator() operator: ActingUser, @Body() body: CreateModelRequest) {
    return toCatalogEntry(await this.models.create(operator, body));
  }

  @Patch(':entry_id')
  @Operation({
    summary: 'Change a model',
    description:
      'Turns that start afterwards follow it. While it is disabled, its replacement answers for it. Its key and its kind stay while anything names the key.',
    answers: ModelCatalogEntryResponse,
    refuses: ['model_in_use', 'model_conflict', 'unknown_reference', 'kind_not_served', 'replacement_cycle', 'organization_owned'],
  })
  async update(@CurrentOperator() operator: ActingUser, @Param('entry_id') entryId: string, @Body() body: UpdateModelRequest) {
    return toCatalogEntry(await this.models.update(operator, entryId, body));
  }

  @Delete(':entry_id')
  @Operation({
    summary: 'Delete a model',
    description: 'Only while nothing names its key. Rather disable it, with a replacement.',
    refuses: ['model_in_use', 'organization_owned'],
  })
  async remove(@CurrentOperator() operator: ActingUser, @Param('entry_id') entryId: string) {
    await this.models.delete(operator, entryId);
  }

  @Post(':entry_id/sync-price')
  @Operation({
    summary: 'Take over the listed prices of a model',
    description: 'From the price list that comes with the service. What it does not know, stays.',
    status: 200,
    answers: ModelCatalogEntryResponse,
    refuses: ['price_not_found', 'organization_owned'],
  })
  async syncPrice(@CurrentOperator() operator: ActingUser, @Param('entry_id') entryId: string) {
    return toCatalogEntry(await this.models.syncPrice(operator, entryId));
  }
}
