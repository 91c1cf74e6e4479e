import { badRequest } from '../../base/problem.ts'
import { flag, instant, oneOf, parameter, text } from '../../http/params.ts'
import { decodeBase64 } from '../repository/base64.ts'
import type { FileAction } from './file-actions.ts'

export const commitListParams = {
  ref_name: text().optional(),
  since: instant().optional(),
  until: instant().optional(),
  path: text().optional(),
  author: text({ max: 1000 }).optional(),
  /** Words of the message, as they stand there but for upper and lower case. */
  search: text({ max: 300 }).optional(),
  all: flag().default(false),
  with_stats: flag().default(false),
  first_parent: flag().default(false),
  order: oneOf(['default', 'topo']).default('default'),
  trailers: flag().default(false),
}

/**
 * The parameters of a new commit are checked by hand: their refusals are sentences under `message` that name the place
 * inside `actions` (docs/contract/B-resolved §2.2).
 */
function unchecked(schema: Readonly<Record<string, unknown>>) {
  return parameter<unknown>(schema, (raw) => raw).optional()
}

const string = { type: 'string' }

export const commitBody = {
  branch: unchecked(string),
  commit_message: unchecked(string),
  actions: unchecked({
    type: 'array',
    items: {
      type: 'object',
      required: ['action', 'file_path'],
      properties: {
        action: { type: 'string', enum: ['create', 'update', 'move', 'delete', 'chmod'] },
        file_path: string,
        previous_path: string,
        content: string,
        encoding: { type: 'string', enum: ['text', 'base64'] },
        last_commit_id: string,
        execute_filemode: { type: 'boolean' },
      },
    },
  }),
  start_branch: unchecked(string),
  start_sha: unchecked(string),
  start_project: unchecked({ type: ['integer', 'string'] }),
  author_name: unchecked(string),
  author_email: unchecked(string),
  stats: flag().default(true),
  force: flag().default(false),
}

const KINDS = ['create', 'update', 'move', 'delete', 'chmod'] as const
type Kind = (typeof KINDS)[number]

/** What a commit is made of, checked. */
export interface CommitParams {
  readonly branch: string
  readonly message: string
  readonly actions: readonly FileAction[]
  readonly startBranch: string | undefined
  readonly startSha: string | undefined
  readonly startProject: string | undefined
  readonly authorName: string | undefined
  readonly authorEmail: string | undefined
}

/** A text parameter at a place; absent when null or not given. */
function textAt(raw: unknown, place: string): string | undefined {
  if (raw === undefined || raw === null) return undefined
  if (typeof raw === 'number') return String(raw)
  if (typeof raw !== 'string' || raw.includes('\0')) throw badRequest(`${place} is invalid`)
  return raw
}

function required(raw: unknown, place: string): string {
  const text = textAt(raw, place)
  if (text === undefined || text.trim() === '') throw badRequest(`${place} is required`)
  return text
}

export function readCommitParams(body: Readonly<Record<string, unknown>>): CommitParams {
  const branch = required(body.branch, 'branch')
  const message = required(body.commit_message, 'commit_message')
  const actions = readActions(body.actions)
  const startBranch = textAt(body.start_branch, 'start_branch') || undefined
  const startSha = textAt(body.start_sha, 'start_sha') || undefined
  if (startBranch !== undefined && startSha !== undefined) {
    throw badRequest('start_branch, start_sha are mutually exclusive')
  }
  return {
    branch,
    message,
    actions,
    startBranch,
    startSha,
    startProject: textAt(body.start_project, 'start_project') || undefined,
    authorName: textAt(body.author_name, 'author_name'),
    authorEmail: textAt(body.author_email, 'author_email'),
  }
}

function readActions(raw: unknown): FileAction[] {
  if (raw === undefined || raw === null) throw badRequest('actions is required')
  const list = Array.isArray(raw) ? raw : listOf(raw)
  if (!list) throw badRequest('actions must be an array')
  if (list.length === 0) throw badRequest('actions is required')
  return list.map((each, index) => readAction(each, `actions[${index}]`))
}

/** `actions[0][action]=…` beyond what the form reader takes for a list. */
function listOf(raw: unknown): unknown[] | null {
  if (typeof raw !== 'object' || raw === null) return null
  const keys = Object.keys(raw)
  return keys.length > 0 && keys.every((key) => /^\d+$/.test(key)) ? Object.values(raw) : null
}

function readAction(raw: unknown, place: string): FileAction {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw badRequest(`${place} must be a hash`)
  }
  const given = raw as Readonly<Record<string, unknown>> // keys are looked up, values checked below
  const kind = readKind(required(given.action, `${place}[action]`), place)
  const path = required(given.file_path, `${place}[file_path]`)
  const content = readContent(given, kind, place)
  const lastCommitId = textAt(given.last_commit_id, `${place}[last_commit_id]`) || undefined
  if (kind === 'create') return { kind, path, content: content ?? Buffer.alloc(0) }
  if (kind === 'update') return { kind, path, content: content ?? Buffer.alloc(0), lastCommitId }
  if (kind === 'delete') return { kind, path, lastCommitId }
  if (kind === 'chmod') return { kind, path, executable: readMode(given, place), lastCommitId }
  const previousPath = textAt(given.previous_path, `${place}[previous_path]`)
  if (!previousPath) throw badRequest(`${place}[previous_path] is required for move action`)
  return { kind, path, previousPath, content, lastCommitId }
}

function readKind(word: string, place: string): Kind {
  const kind = KINDS.find((known) => known === word)
  if (!kind) {
    throw badRequest(`${place}[action] must be one of: ${KINDS.join(', ')}`)
  }
  return kind
}

/** Nothing where the key is absent or null; an update and a create need the key. */
function readContent(
  given: Readonly<Record<string, unknown>>,
  kind: Kind,
  place: string,
): Buffer | undefined {
  const encoding = textAt(given.encoding, `${place}[encoding]`) ?? 'text'
  if (encoding !== 'text' && encoding !== 'base64') {
    throw badRequest(`${place}[encoding] must be text or base64`)
  }
  if (!('content' in given) && (kind === 'create' || kind === 'update')) {
    throw badRequest(`${place}[content] is required for ${kind} action`)
  }
  const { content } = given
  if (content === undefined || content === null) return undefined
  if (typeof content === 'number') return Buffer.from(String(content))
  if (typeof content !== 'string') throw badRequest(`${place}[content] is invalid`)
  if (encoding === 'text') return Buffer.from(content, 'utf8')
  const bytes = decodeBase64(content)
  if (!bytes) throw badRequest(`${place}[content] is not valid base64`)
  return bytes
}

function readMode(given: Readonly<Record<string, unknown>>, place: string): boolean {
  const raw = given.execute_filemode
  if (raw === undefined || raw === null || raw === '') {
    throw badRequest(`${place}[execute_filemode] is required for chmod action`)
  }
  const read = flag().safeParse(raw)
  if (!read.success) throw badRequest(`${place}[execute_filemode] must be a boolean`)
  return read.data
}
