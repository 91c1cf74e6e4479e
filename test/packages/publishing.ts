import { request } from 'node:http'
import type { Caller, Reply, World } from '../support/world.ts'
import { type DocumentOptions, documentOf } from './npm-document.ts'
import { zipOf } from './zip-file.ts'

/** A form with these fields and one file. */
export function fileForm(
  part: string,
  fileName: string,
  content: string | Uint8Array<ArrayBuffer>,
  fields: Readonly<Record<string, string>> = {},
): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set(part, new Blob([content]), fileName)
  return form
}

/** What `curl --upload-file` sends. `at` is the address of a project's packages, here and below. */
export function putGeneric(who: Caller, at: string, path: string, raw = 'bytes'): Promise<Reply> {
  return who.put(`${at}/generic/${path}`, undefined, { raw })
}

/** What `npm publish` sends. */
export async function publishNpm(
  who: Caller,
  at: string,
  name: string,
  version: string,
  options?: DocumentOptions,
): Promise<Reply> {
  const path = `${at}/npm/${name.replace('/', '%2f')}`
  return await who.put(path, await documentOf(name, version, options))
}

/** What `mvn deploy` sends for one file. */
export function putMaven(who: Caller, at: string, path: string, raw = 'bytes'): Promise<Reply> {
  return who.put(`${at}/maven/${path}`, undefined, { raw })
}

/** What `twine upload` sends for one file. */
export function uploadPypi(
  who: Caller,
  at: string,
  fields: Readonly<Record<string, string>> & { readonly name: string; readonly version: string },
  fileName = `${fields.name}-${fields.version}.tar.gz`,
  content: string | Uint8Array<ArrayBuffer> = `bytes of ${fileName}`,
): Promise<Reply> {
  const all = { ':action': 'file_upload', protocol_version: '1', ...fields }
  return who.post(`${at}/pypi`, undefined, { raw: fileForm('content', fileName, content, all) })
}

/** The nuspec of a package; `more` stands within its metadata. */
export function nuspecOf(id: string, version: string, more = ''): string {
  return `<?xml version="1.0"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"><metadata>
<id>${id}</id><version>${version}</version>${more}
</metadata></package>`
}

const AUTHORS = '<authors>Ana</authors><description>A tool</description>'

/** A package of NuGet's. */
export function nupkgOf(id: string, version: string, more = AUTHORS) {
  return zipOf({ [`${id}.nuspec`]: nuspecOf(id, version, more), 'lib/net8.0/a.txt': 'a' })
}

/** What `dotnet nuget push` sends. */
export async function pushNuget(
  who: Caller,
  at: string,
  nupkg: Uint8Array<ArrayBuffer>,
  path = '/nuget',
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const raw = fileForm('package', 'package.nupkg', nupkg)
  return await who.put(`${at}${path}`, undefined, { raw, headers })
}

export interface PlainReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** A request whose path goes out as it is written: `fetch` takes away its dots and empty segments. */
export function plainRequest(
  world: World,
  who: Caller,
  method: string,
  path: string,
  body?: string,
): Promise<PlainReply> {
  const { hostname, port } = new URL(world.url)
  const headers = who.token === null ? {} : { [who.header]: who.token }
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path: `/api/v4${path}`, headers, agent: false },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        )
        answer.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}
