import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { userAgentEntity } from '../../identity/user-agents/verbs.ts'
import { filePath } from '../../repositories/files/file-path.ts'
import { snippetEntity } from './entity.ts'
import { assertMayEdit, getSnippet } from './find.ts'
import {
  eitherFilesOrContent,
  fileStepsBody,
  firstActions,
  newFilesBody,
  nextActions,
} from './input.ts'
import { removeSnippet } from './remove.ts'
import {
  factsBody,
  listSnippets,
  presentSnippet,
  rawSnippet,
  readSnippet,
  userAgentIn,
  userAgentOf,
} from './shared.ts'
import { changeSnippet, createSnippet } from './verbs.ts'

const tags = ['snippets']
const params = { snippet_id: id() }
const read = onProject('read_snippets')
/** Whose snippet it is decides inside. */
const write = onProject('read_snippets', { signedIn: true })

export const listProjectSnippets = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets',
  summary: 'List the snippets of a project',
  tags,
  access: read,
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, project, page }) => listSnippets(ctx, { projectId: project.id }, page),
})

export const getProjectSnippet = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Get a snippet of a project',
  tags,
  access: read,
  params,
  response: snippetEntity,
  handler: async ({ ctx, project, params }) =>
    presentSnippet(ctx, await getSnippet(ctx, params.snippet_id, project)),
})

export const postProjectSnippet = endpoint({
  method: 'POST',
  path: '/projects/:id/snippets',
  summary: 'Make a snippet in a project',
  tags,
  access: onProject('create_snippet', { signedIn: true }),
  body: { ...factsBody, ...newFilesBody },
  check: eitherFilesOrContent,
  response: snippetEntity,
  status: 201,
  async handler({ ctx, project, body, request }) {
    const snippetId = await createSnippet(ctx, project, {
      title: body.title,
      description: body.description ?? null,
      visibility: body.visibility,
      actions: firstActions(ctx, body),
      userAgent: userAgentIn(request),
    })
    return readSnippet(ctx, snippetId, project)
  },
})

export const putProjectSnippet = endpoint({
  method: 'PUT',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Change a snippet of a project or its files',
  tags,
  access: write,
  params,
  body: {
    title: factsBody.title.optional(),
    description: factsBody.description,
    visibility: factsBody.visibility.optional(),
    ...fileStepsBody,
  },
  response: snippetEntity,
  async handler({ ctx, project, params, body }) {
    const snippet = await getSnippet(ctx, params.snippet_id, project)
    assertMayEdit(ctx, snippet)
    await changeSnippet(ctx, snippet, body, (paths) => nextActions(ctx, body, paths))
    return readSnippet(ctx, params.snippet_id, project)
  },
})

export const deleteProjectSnippet = endpoint({
  method: 'DELETE',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Delete a snippet of a project with its repository',
  tags,
  access: write,
  params,
  async handler({ ctx, project, params }) {
    assertMayEdit(ctx, await getSnippet(ctx, params.snippet_id, project))
    await removeSnippet(ctx, params.snippet_id)
  },
})

export const getProjectSnippetRaw = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id/raw',
  summary: 'Download the first file of a snippet of a project',
  tags,
  access: read,
  params,
  response: bytes('text/plain'),
  handler: async ({ ctx, project, params, request }) =>
    rawSnippet(ctx, await getSnippet(ctx, params.snippet_id, project), request),
})

export const getProjectSnippetFile = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id/files/:ref/:file_path/raw',
  summary: 'Download a file of a snippet of a project as a revision has it',
  tags,
  access: read,
  params: { ...params, ref: text({ max: 1024 }), file_path: filePath() },
  response: bytes('text/plain'),
  handler: async ({ ctx, project, params, request }) =>
    rawSnippet(ctx, await getSnippet(ctx, params.snippet_id, project), request, {
      ref: params.ref,
      path: params.file_path,
    }),
})

export const getProjectSnippetUserAgent = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id/user_agent_detail',
  summary: 'Tell from where a snippet of a project was made',
  tags,
  access: onProject('admin_only', { signedIn: true }),
  params,
  response: userAgentEntity,
  handler: async ({ ctx, project, params }) =>
    userAgentOf(await getSnippet(ctx, params.snippet_id, project)),
})
