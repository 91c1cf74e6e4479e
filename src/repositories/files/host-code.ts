import { notFound } from '../../base/problem.ts'
import { streamRawDiff } from '../../git/diff/raw-diff.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { contentDisposition } from '../../http/content-disposition.ts'
import { bytes, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { flag, oneOf, text } from '../../http/params.ts'
import { codeRead } from '../repository/access.ts'
import { answerArchive, archiveQuery } from '../repository/answer-archive.ts'
import { countLargeBlob } from '../repository/blob-limit.ts'
import { orNotFound } from '../repository/missing.ts'
import { answerBlob } from '../repository/raw.ts'
import { splitRefPath } from '../repository/split-ref-path.ts'
import { getFile } from './find-file.ts'
import { answerPointedFile } from './large-file.ts'

const common = {
  method: 'GET',
  host: true,
  tags: ['files'],
  ...codeRead(),
} as const

const getRawFile = endpoint({
  ...common,
  path: '/-/project/:id/raw/*ref_path',
  summary: 'Download a file by the address that people share',
  params: { ref_path: text() },
  query: { inline: flag().default(true) },
  response: bytes('text/plain'),
  async handler({ ctx, project, repo, params, query, request }) {
    const { ref, path } = await splitRefPath(repo, params.ref_path)
    const file = await getFile(repo, ref, path, undefined, request.signal)
    const kind = query.inline ? 'inline' : 'attachment'
    const headers = { 'Content-Disposition': contentDisposition(kind, file.name) }
    const pointed = await answerPointedFile({ ctx, project, repo, file, request, headers })
    const admit = (size: number) => countLargeBlob(ctx, project, size, request)
    return pointed ?? (await answerBlob(repo, file.blobId, request, headers, admit))
  },
})

const getHostArchive = endpoint({
  ...common,
  path: '/-/project/:id/archive/*ref_name',
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

const getCommitChange = endpoint({
  ...common,
  path: '/-/project/:id/commit/:sha/:format',
  summary: 'Download the change of a commit as a diff or as a mail',
  params: { sha: text(), format: oneOf(['diff', 'patch']) },
  response: bytes('text/plain'),
  async handler({ repo, params, request }) {
    const { id: to } = await orNotFound('Commit', readCommit(repo, params.sha))
    const body = streamRawDiff(repo, { to, format: params.format }, request.signal)
    return { body, type: 'text/plain' }
  },
})

/** Code at the host itself, beside the API. */
export const hostCodeEndpoints: readonly Endpoint[] = [getRawFile, getHostArchive, getCommitChange]

const FILES = /^\/(.+?)\/-\/(raw|archive)\/(.+)$/
const COMMIT = /^\/(.+?)\/-\/commit\/([0-9a-f]{4,64})\.(diff|patch)$/

/** The path under which `hostCodeEndpoints` know a raw path of the host, or undefined for any other. */
export function hostCodePath(rawPath: string): string | undefined {
  const [, project, kind, rest] = FILES.exec(rawPath) ?? []
  if (project !== undefined) return `/-/project/${project.split('/').join('%2F')}/${kind}/${rest}`
  const [, of, sha, format] = COMMIT.exec(rawPath) ?? []
  if (of === undefined) return undefined
  return `/-/project/${of.split('/').join('%2F')}/commit/${sha}/${format}`
}
