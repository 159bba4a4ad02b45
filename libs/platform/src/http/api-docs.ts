import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { Controller, Get, Module, Param, Res, SetMetadata } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { notFound } from '@aps/contracts';
import type { Response } from 'express';

/** The committed document; found from a bundle, the source tree and `dist` alike. */
const DOCUMENT = ['../../..', '../../../..', '../../../../..'].map((up) => `${up}/openapi/openapi.json`).map((p) => path.resolve(__dirname, p)).find(existsSync);

const ASSETS: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent platform API</title>
<link rel="icon" href="./docs/favicon-32x32.png">
<link rel="stylesheet" href="./docs/swagger-ui.css">
</head>
<body>
<div id="ui"></div>
<script src="./docs/swagger-ui-bundle.js"></script>
<script src="./docs/start.js"></script>
</body>
</html>
`;
const START = `window.ui = SwaggerUIBundle({ url: './openapi.json', dom_id: '#ui', deepLinking: true, docExpansion: 'none', filter: true, persistAuthorization: true, displayRequestDuration: true, tryItOutEnabled: false });\n`;

// The page loads its own scripts and calls this API; nothing else.
const CSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

// Declared by its metadata key: the guards stand above this library and read it from there.
const Open = () => SetMetadata('aps:access', { tier: 'public', area: null });

/** The OpenAPI document and a page to read it. */
@ApiExcludeController()
@Controller('api')
export class ApiDocsController {
  @Get('openapi.json')
  @Open()
  document(@Res() response: Response): void {
    if (!DOCUMENT) throw notFound('The OpenAPI document');
    response.type('application/json').setHeader('Cache-Control', 'public, max-age=300');
    createReadStream(DOCUMENT).pipe(response);
  }

  @Get('docs')
  @Open()
  page(@Res() response: Response): void {
    response.setHeader('Content-Security-Policy', CSP).type('text/html').send(PAGE);
  }

  @Get('docs/:file')
  @Open()
  asset(@Param('file') file: string, @Res() response: Response): void {
    if (file === 'start.js') {
      response.type('text/javascript').send(START);
      return;
    }
    const type = ASSETS[file];
    if (!type) throw notFound('The file');
    response.type(type).setHeader('Cache-Control', 'public, max-age=86400');
    createReadStream(path.join(path.dirname(require.resolve('swagger-ui-dist/package.json')), file)).pipe(response);
  }
}

@Module({ controllers: [ApiDocsController] })
export class ApiDocsModule {}
