import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiCreatedResponse,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiPayloadTooLargeResponse,
  ApiProduces,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { UploadResponse } from '@aps/dtos';
import { FilesQueries, FilesService } from '@aps/files';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import type { Request, Response } from 'express';
import { answerFile } from './file-answer';
import { toUpload } from './files.convert';
import { receiveFile } from './multipart';

const BYTES = { schema: { type: 'string', format: 'binary' } } as const;

@ApiTags('Files')
@Controller('api/orgs/:org_id')
export class FilesController {
  constructor(
    private readonly files: FilesService,
    private readonly queries: FilesQueries,
  ) {}

  @Post('uploads')
  @OrgMember('chats')
  @ApiOperation({
    summary: 'Upload a file',
    description:
      'One file of at most 50 MiB. It lives for 24 hours, and from then on as long as something refers to it, such as a message that it is attached to. Its media type is told from its bytes.',
  })
  @ApiConsumes('multipart/form-data')
  @ApiBody({
    required: true,
    schema: {
      type: 'object',
      required: ['file'],
      properties: { file: { type: 'string', format: 'binary', description: 'The file, with its name.' } },
    },
  })
  @ApiCreatedResponse({ type: UploadResponse })
  @ApiPayloadTooLargeResponse({ description: '`payload_too_large`: the file is larger than 50 MiB.' })
  async upload(@CurrentOrg() scope: OrgScope, @Req() request: Request): Promise<UploadResponse> {
    return toUpload(await this.files.upload(scope, await receiveFile(request)));
  }

  @Get('files/:file_id')
  @OrgMember('chats')
  @ApiOperation({
    summary: 'Get the bytes of a file',
    description:
      'For who uploaded it, and for whoever may open something that refers to it. Answers `HEAD`, `Range`, `If-Range` and `If-None-Match`. Shown by browsers only where it is an image or plain text.',
  })
  @ApiProduces('application/octet-stream')
  @ApiHeader({ name: 'Range', required: false, description: 'One range of bytes.', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'The bytes.', content: { 'application/octet-stream': BYTES } })
  @ApiResponse({ status: 206, description: 'The bytes of the range.', content: { 'application/octet-stream': BYTES } })
  @ApiResponse({ status: 416, description: '`range_not_satisfiable`: the file has no such bytes.' })
  async get(
    @CurrentOrg() scope: OrgScope,
    @Param('file_id') fileId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await answerFile(request, response, await this.queries.get(scope, fileId), this.queries);
  }
}
