import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { UploadResponse } from '@aps/dtos';
import { FilesQueries } from '../files.queries';
import { FilesService } from '../files.service';
import { CurrentOrg, OrgMember, OrgScope } from '@aps/guards';
import { FILE_BYTES, Operation } from '@aps/platform/http';
import type { Request, Response } from 'express';
import { answerFile } from './file-answer';
import { FileTransfers } from './file-transfers';
import { toUpload } from './files.convert';
import { receiveFile, TakesFile } from './multipart';

@ApiTags('Files')
@Controller('api/orgs/:org_id')
@OrgMember('chats')
export class FilesController {
  constructor(
    private readonly files: FilesService,
    private readonly queries: FilesQueries,
    private readonly transfers: FileTransfers,
  ) {}

  @Post('uploads')
  @TakesFile()
  @Operation({
    summary: 'Upload a file',
    description:
      'One file of at most 50 MiB. It lives for 24 hours, and from then on as long as something refers to it, such as a message that it is attached to. Its media type is told from its bytes. Who sends less than 512 KiB of it in half a minute is cut off. An organization with 5 GiB of files that nothing refers to is refused (429). ' +
      'It takes no `Idempotency-Key`: sent again it is another file, and the one that nothing refers to is removed.',
    answers: UploadResponse,
  })
  async upload(@CurrentOrg() scope: OrgScope, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    await this.transfers.admit(scope, response);
    await this.files.requireRoom(scope);
    return toUpload(await this.files.upload(scope, await receiveFile(request)));
  }

  @Get('files/:file_id')
  @Operation({
    summary: 'Get the bytes of a file',
    description:
      'For who uploaded it, and for whoever may open something that refers to it. Answers `HEAD`, `Range`, `If-Range` and `If-None-Match`. Shown by browsers only where it is an image or plain text. Who takes less than 512 KiB of it in half a minute is cut off, and goes on with a `Range`.',
    status: [200, 206],
    answers: FILE_BYTES,
    refuses: ['range_not_satisfiable'],
  })
  async get(@CurrentOrg() scope: OrgScope, @Param('file_id') fileId: string, @Req() request: Request, @Res() response: Response) {
    await this.transfers.admit(scope, response);
    await answerFile(request, response, await this.queries.get(scope, fileId), this.queries);
  }
}
