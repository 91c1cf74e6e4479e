import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { onProjectSnippet, setsVisibility } from './access.ts'
import { snippetEntity } from './entity.ts'
import { eitherFilesOrContent, firstActions, newFilesBody } from './input.ts'
import { factsBody, listSnippets, readSnippet, userAgentIn } from './shared.ts'
import { snippetEndpoints } from './single-endpoints.ts'
import { createSnippet } from './verbs.ts'

export const listProjectSnippets = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets',
  summary: 'List the snippets of a project',
  access: onProject('read_snippets'),
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, project, page }) => listSnippets(ctx, { projectId: project.id }, page),
})

export const postProjectSnippet = endpoint({
  method: 'POST',
  path: '/projects/:id/snippets',
  summary: 'Make a snippet in a project',
  access: onProject('create_snippet', { signedIn: true }),
  body: { ...factsBody, ...newFilesBody },
  check: eitherFilesOrContent,
  conditions: [setsVisibility],
  response: snippetEntity,
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

export const projectSnippets = snippetEndpoints({
  path: '/projects/:id/snippets/:snippet_id',
  what: 'a snippet of a project',
  read: onProjectSnippet(),
  edit: onProjectSnippet('edit_snippet', { signedIn: true }),
  admin: onProjectSnippet('admin_only', { signedIn: true }),
})
