import { bytes, endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { codeRead } from './access.ts'
import { answerArchive, archiveQuery } from './answer-archive.ts'

const common = {
  ...codeRead(),
  query: { sha: text().optional(), ...archiveQuery },
  response: bytes('application/octet-stream'),
} as const

export const getArchive = endpoint({
  ...common,
  method: 'GET',
  path: '/projects/:id/repository/archive',
  summary: 'Download a repository as tar.gz',
  handler: ({ ctx, project, repo, query, request }) =>
    answerArchive({ ctx, project, repo, query, request, suffix: undefined }),
})

export const getArchiveOf = endpoint({
  ...common,
  method: 'GET',
  path: '/projects/:id/repository/archive.:format',
  summary: 'Download a repository as tar, tar.gz, tar.bz2 or zip',
  params: { format: text() },
  handler: ({ ctx, project, repo, params, query, request }) =>
    answerArchive({ ctx, project, repo, query, request, suffix: params.format }),
})
