import { notFound } from '../../base/problem.ts'
import { streamRawDiff } from '../../git/diff/raw-diff.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { contentDisposition } from '../../http/content-disposition.ts'
import { bytes, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { flag, text } from '../../http/params.ts'
import { codeRead } from '../repository/access.ts'
import { answerArchive, archiveQuery } from '../repository/answer-archive.ts'
import { countLargeBlob } from '../repository/blob-limit.ts'
import { imageType } from '../repository/image-type.ts'
import { orNotFound } from '../repository/missing.ts'
import { answerBlob, plainTypeOf } from '../repository/raw.ts'
import { splitRefPath } from '../repository/split-ref-path.ts'
import { getFile } from './find-file.ts'
import { answerPointedFile } from './large-file.ts'

const common = {
  method: 'GET',
  host: true,
  session: true,
  tags: ['files'],
  ...codeRead(),
} as const

const getRawFile = endpoint({
  ...common,
  path: '/*id/-/raw/*ref_path',
  summary: 'Download a file by the address that people share',
  params: { ref_path: text() },
  query: { inline: flag().default(true) },
  response: bytes('text/plain'),
  async handler({ ctx, project, repo, params, query, request }) {
    const { ref, path } = await splitRefPath(repo, params.ref_path)
    const file = await getFile(repo, ref, path, undefined, request.signal)
    const kind = query.inline ? 'inline' : 'attachment'
    const headers = {
      'Content-Disposition': contentDisposition(kind, file.name),
      Vary: 'Sec-Fetch-Dest, Accept',
    }
    const pointed = await answerPointedFile({ ctx, project, repo, file, request, headers })
    const admit = (size: number) => countLargeBlob(ctx, project, size, request)
    if (pointed) return pointed
    const typeOf = (start: Buffer) =>
      (query.inline ? imageType(file.name, start, request) : undefined) ?? plainTypeOf(start)
    return await answerBlob(repo, file.blobId, request, headers, admit, typeOf)
  },
})

const getHostArchive = endpoint({
  ...common,
  path: '/*id/-/archive/*ref_name',
  summary: 'Download a repository by the address that people share',
  params: { ref_name: text() },
  query: archiveQuery,
  response: bytes('application/octet-stream'),
  handler({ ctx, project, repo, params, query, request }) {
    // `main.zip`, or `feature/one/<any name>.zip`.
    const [, name = '', suffix] =
      /^(.+?)\.(tar(?:\.[a-z0-9]+)?|t[a-z0-9]+|zip)$/.exec(params.ref_name) ?? []
    const slash = name.lastIndexOf('/')
    const sha = slash < 0 ? name : name.slice(0, slash)
    if (sha === '') throw notFound()
    return answerArchive({ ctx, project, repo, query: { ...query, sha }, request, suffix })
  },
})

const getCommitChange = (['diff', 'patch'] as const).map((format) =>
  endpoint({
    ...common,
    path: `/*id/-/commit/:sha.${format}`,
    summary: 'Download the change of a commit as a diff or as a mail',
    params: { sha: text() },
    response: bytes('text/plain'),
    async handler({ repo, params, request }) {
      const { id: to } = await orNotFound('Commit', readCommit(repo, params.sha))
      const body = await streamRawDiff(repo, { to, format }, request.signal)
      return { body, type: 'text/plain' }
    },
  }),
)

/** Code at the host itself, beside the API. */
export const hostCodeEndpoints: readonly Endpoint[] = [
  getRawFile,
  getHostArchive,
  ...getCommitChange,
]
