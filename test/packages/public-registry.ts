import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tarballOf } from './tarball.ts'
import { zipOf } from './zip-file.ts'

/** What stands for the public registries: npm's below `/npm`, the Python index below `/pypi`, Maven below `/maven`. */
export interface PublicRegistry {
  readonly url: string
  /** Requests that came, as `GET /npm/far`. */
  readonly seen: string[]
  /** Called before each answer; true when it has answered. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean
  stop(): Promise<void>
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function npmFiles(url: string) {
  const tarball = await tarballOf({ 'package/package.json': '{"name":"far","version":"1.2.0"}' })
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
  // Where it is need not follow from its name.
  const dist = { integrity, tarball: `${url}/npm-files/abc` }
  const versions = { '1.2.0': { name: 'far', version: '1.2.0', dist } }
  const metadata = { name: 'far', 'dist-tags': { latest: '1.2.0' }, versions }
  return { '/npm/far': JSON.stringify(metadata), '/npm-files/abc': tarball }
}

async function pythonFiles() {
  const name = 'far_tool-1.0-py3-none-any.whl'
  const metadata = 'Metadata-Version: 2.1\nName: far-tool\nVersion: 1.0\n'
  const wheel = await zipOf({
    'far_tool.py': 'answer = 42\n',
    'far_tool-1.0.dist-info/METADATA': metadata,
    'far_tool-1.0.dist-info/WHEEL':
      'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    'far_tool-1.0.dist-info/RECORD':
      'far_tool.py,,\nfar_tool-1.0.dist-info/METADATA,,\nfar_tool-1.0.dist-info/WHEEL,,\nfar_tool-1.0.dist-info/RECORD,,\n',
  })
  const file = {
    filename: name,
    url: `../../files/${name}`,
    hashes: { sha256: sha256(wheel) },
    'requires-python': '>=3.7',
    'core-metadata': { sha256: sha256(Buffer.from(metadata)) },
  }
  const page = { meta: { 'api-version': '1.1' }, name: 'far-tool', files: [file] }
  return {
    '/pypi/simple/far-tool/': JSON.stringify(page),
    [`/pypi/files/${name}`]: wheel,
    [`/pypi/files/${name}.metadata`]: metadata,
  }
}

export async function openPublicRegistry(): Promise<PublicRegistry> {
  const files = new Map<string, Buffer>()
  const seen: string[] = []
  const server: Server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (registry.intercept(request, response)) return
    const content = files.get(request.url ?? '')
    if (!content) {
      response.writeHead(404).end()
      return
    }
    const etag = `"${sha256(content)}"`
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, { ETag: etag }).end()
      return
    }
    const isPage = request.url?.startsWith('/pypi/simple/')
    const type = isPage ? 'application/vnd.pypi.simple.v1+json' : 'application/json'
    response.writeHead(200, { ETag: etag, 'Content-Type': type, 'Content-Length': content.length })
    response.end(request.method === 'HEAD' ? undefined : content)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const all = {
    ...(await npmFiles(url)),
    ...(await pythonFiles()),
    '/maven/org/x/a/1.0/a-1.0.jar': 'the jar',
    '/maven/org/x/a/maven-metadata.xml': '<metadata/>',
  }
  for (const [path, content] of Object.entries(all)) files.set(path, Buffer.from(content))
  const registry: PublicRegistry = {
    url,
    seen,
    intercept: () => false,
    stop: () =>
      new Promise((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
  return registry
}
