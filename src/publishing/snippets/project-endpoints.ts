import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { userAgentEntity } from '../../identity/user-agents/verbs.ts'
import { onProjectSnippet, setsVisibility } from './access.ts'
import { snippetEntity } from './entity.ts'
import { eitherFilesOrContent, firstActions, newFilesBody, nextActions } from './input.ts'
import { removeSnippet } from './remove.ts'
import {
  changeBody,
  factsBody,
  fileParams,
  listSnippets,
  presentSnippet,
  rawSnippet,
  readSnippet,
  userAgentIn,
  userAgentOf,
} from './shared.ts'
import { changeSnippet, createSnippet } from './verbs.ts'

const tags = ['snippets']

export const listProjectSnippets = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets',
  summary: 'List the snippets of a project',
  tags,
  access: onProject('read_snippets'),
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, project, page }) => listSnippets(ctx, { projectId: project.id }, page),
})

export const getProjectSnippet = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Get a snippet of a project',
  tags,
  access: onProjectSnippet(),
  response: snippetEntity,
  handler: ({ ctx, snippet }) => presentSnippet(ctx, snippet),
})

export const postProjectSnippet = endpoint({
  method: 'POST',
  path: '/projects/:id/snippets',
  summary: 'Make a snippet in a project',
  tags,
  access: onProject('create_snippet', { signedIn: true }),
  body: { ...factsBody, ...newFilesBody },
  check: eitherFilesOrContent,
  conditions: [setsVisibility],
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
  access: onProjectSnippet('edit_snippet', { signedIn: true }),
  body: changeBody,
  conditions: [setsVisibility],
  response: snippetEntity,
  async handler({ ctx, project, snippet, body }) {
    await changeSnippet(ctx, snippet, body, (paths) => nextActions(ctx, body, paths))
    return readSnippet(ctx, snippet.row.id, project)
  },
})

export const deleteProjectSnippet = endpoint({
  method: 'DELETE',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Delete a snippet of a project with its repository',
  tags,
  access: onProjectSnippet('edit_snippet', { signedIn: true }),
  handler: ({ ctx, snippet }) => removeSnippet(ctx, snippet.row.id),
})

export const getProjectSnippetRaw = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id/raw',
  summary: 'Download the first file of a snippet of a project',
  tags,
  access: onProjectSnippet(),
  response: bytes('text/plain'),
  handler: ({ ctx, snippet, request }) => rawSnippet(ctx, snippet, request),
})

export const getProjectSnippetFile = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id/files/:ref/:file_path/raw',
  summary: 'Download a file of a snippet of a project as a revision has it',
  tags,
  access: onProjectSnippet(),
  params: fileParams,
  response: bytes('text/plain'),
  handler: ({ ctx, snippet, params: { ref, file_path: path }, request }) =>
    rawSnippet(ctx, snippet, request, { ref, path }),
})

export const getProjectSnippetUserAgent = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id/user_agent_detail',
  summary: 'Tell from where a snippet of a project was made',
  tags,
  access: onProjectSnippet('admin_only', { signedIn: true }),
  response: userAgentEntity,
  handler: ({ snippet }) => userAgentOf(snippet),
})
