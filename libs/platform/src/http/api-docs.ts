import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { Controller, Get, Module, Param, Req, Res, SetMetadata } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { notFound } from '@aps/contracts';
import type { Request, Response } from 'express';
import { ACCESS } from './body';

/** The committed document; found from a bundle, the source tree and `dist` alike. */
const DOCUMENT = ['../../..', '../../../..', '../../../../..']
  .map((up) => `${up}/openapi/openapi.json`)
  .map((p) => path.resolve(__dirname, p))
  .find(existsSync);

const ASSETS = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

/** @param assets the way to them from the page, whose address may end in a slash */
const page = (assets: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent platform API</title>
<link rel="icon" href="${assets}/favicon-32x32.png">
<link rel="stylesheet" href="${assets}/swagger-ui.css">
</head>
<body>
<div id="ui"></div>
<script src="${assets}/swagger-ui-bundle.js"></script>
<script src="${assets}/start.js"></script>
</body>
</html>
`;
// Found from the script, which has one address, and not from the page, which has two.
const START = `window.ui = SwaggerUIBundle({ url: new URL('../openapi.json', document.currentScript.src).href, dom_id: '#ui', deepLinking: true, docExpansion: 'none', filter: true, persistAuthorization: true, displayRequestDuration: true, tryItOutEnabled: false });\n`;

// The page loads its own scripts and calls this API; nothing else.
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

const Open = () => SetMetadata(ACCESS, { tier: 'public', area: null });

/** A client that hangs up leaves no open file behind; what fails on the way cuts it off. */
function send(file: string, response: Response): void {
  pipeline(createReadStream(file), response, () => undefined);
}

/** The OpenAPI document and a page to read it. */
@ApiExcludeController()
@Controller('api')
export class ApiDocsController {
  @Get('openapi.json')
  @Open()
  document(@Res() response: Response): void {
    if (!DOCUMENT) throw notFound('The OpenAPI document');
    response.type('application/json').setHeader('Cache-Control', 'public, max-age=300');
    send(DOCUMENT, response);
  }

  @Get('docs')
  @Open()
  page(@Req() request: Request, @Res() response: Response): void {
    response
      .setHeader('Content-Security-Policy', CSP)
      .type('text/html')
      .send(page(request.path.endsWith('/') ? '.' : './docs'));
  }

  @Get('docs/:file')
  @Open()
  asset(@Param('file') file: string, @Res() response: Response): void {
    if (file === 'start.js') {
      response.type('text/javascript').send(START);
      return;
    }
    const type = ASSETS.get(file);
    if (!type) throw notFound('File');
    response.type(type).setHeader('Cache-Control', 'public, max-age=86400');
    send(path.join(path.dirname(require.resolve('swagger-ui-dist/package.json')), file), response);
  }
}

const WELCOME = {
  name: 'Agent platform',
  description: 'An HTTP API to build, run and govern AI agents.',
  documentation: '/api/docs',
  openapi: '/api/openapi.json',
  health: 'GET /healthz (alive) and GET /readyz (ready), on the internal port',
  next_step: 'POST /api/auth/login for a token, or POST /api/auth/signup; then GET /api/auth/me with Authorization: Bearer <token>',
};

const WELCOME_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${WELCOME.name}</title>
<link rel="icon" href="./api/docs/favicon-32x32.png">
</head>
<body>
<h1>${WELCOME.name}</h1>
<p>${WELCOME.description}</p>
<dl>
<dt>Documentation</dt>
<dd><a href=".${WELCOME.documentation}">${WELCOME.documentation}</a>, for programs <a href=".${WELCOME.openapi}">${WELCOME.openapi}</a></dd>
<dt>Health</dt>
<dd>${WELCOME.health}</dd>
<dt>Next step</dt>
<dd>${WELCOME.next_step.replace('<token>', '&lt;token&gt;')}</dd>
</dl>
</body>
</html>
`;

/** What somebody finds who has only the address. */
@ApiExcludeController()
@Controller()
export class WelcomeController {
  @Get()
  @Open()
  welcome(@Req() request: Request, @Res() response: Response): void {
    response.vary('Accept');
    // Whatever takes anything is a program.
    if (request.accepts(['json', 'html']) === 'html')
      response.setHeader('Content-Security-Policy', CSP).type('text/html').send(WELCOME_PAGE);
    else response.json(WELCOME);
  }
}

@Module({ controllers: [ApiDocsController, WelcomeController] })
export class ApiDocsModule {}
