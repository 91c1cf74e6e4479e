import type { Access } from '../../access/subjects.ts'
import { bytes, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { atLeastOne } from '../../http/params.ts'
import { userAgentEntity } from '../../identity/user-agents/verbs.ts'
import { type Snippet, setsVisibility } from './access.ts'
import { snippetEntity } from './entity.ts'
import { nextActions } from './input.ts'
import { removeSnippet } from './remove.ts'
import {
  changeBody,
  fileParams,
  presentSnippet,
  rawSnippet,
  readSnippet,
  userAgentOf,
} from './shared.ts'
import { changeSnippet } from './verbs.ts'

type OnSnippet = Access<{ readonly snippet: Snippet }, string>

/** Where a snippet is found: below its project, or by its number alone. */
interface SnippetForm {
  /** `/snippets/:id` */
  readonly path: string
  /** `a snippet of a project` */
  readonly what: string
  readonly read: OnSnippet
  readonly edit: OnSnippet
  readonly admin: OnSnippet
}

/** The endpoints of one snippet, for either form of its address. */
export function snippetEndpoints({ path, what, read, edit, admin }: SnippetForm): Endpoint[] {
  const tags = ['snippets']
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `Get ${what}`,
      tags,
      access: read,
      response: snippetEntity,
      handler: ({ ctx, snippet }) => presentSnippet(ctx, snippet),
    }),
    endpoint({
      method: 'PUT',
      path,
      summary: `Change ${what} or its files`,
      tags,
      access: edit,
      body: changeBody,
      check: atLeastOne(Object.keys(changeBody)),
      conditions: [setsVisibility],
      response: snippetEntity,
      async handler({ ctx, snippet, body }) {
        await changeSnippet(ctx, snippet, body, (paths) => nextActions(ctx, body, paths))
        return readSnippet(ctx, snippet.row.id)
      },
    }),
    endpoint({
      method: 'DELETE',
      path,
      summary: `Delete ${what} with its repository`,
      tags,
      access: edit,
      handler: ({ ctx, snippet }) => removeSnippet(ctx, snippet.row.id),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/raw`,
      summary: `Download the first file of ${what}`,
      tags,
      access: read,
      response: bytes('text/plain'),
      handler: ({ ctx, snippet, request }) => rawSnippet(ctx, snippet, request),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/files/:ref/:file_path/raw`,
      summary: `Download a file of ${what} as a revision has it`,
      tags,
      access: read,
      params: fileParams,
      response: bytes('text/plain'),
      handler: ({ ctx, snippet, params: { ref, file_path: path }, request }) =>
        rawSnippet(ctx, snippet, request, { ref, path }),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/user_agent_detail`,
      summary: `Get from where ${what} was made`,
      tags,
      access: admin,
      response: userAgentEntity,
      handler: ({ snippet }) => userAgentOf(snippet),
    }),
  ]
}
