import type { z } from 'zod'
import { badParameters, badRequest, invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { CommitAction } from '../../git/write/write-commit.ts'
import { fault, hash, list, oneOf, parameter, text } from '../../http/params.ts'
import { MOST_FILES } from './repository.ts'

const FIRST_NAME = 'snippetfile1.txt'

/** The name of a file inside a snippet; paths that no repository takes are refused when the commit is written. */
function fileName() {
  return text({ max: 255 })
}

/** What files hold: any text, though not none. */
function content() {
  return parameter({ type: 'string' }, (raw) => {
    if (typeof raw === 'number') return String(raw)
    if (typeof raw !== 'string' || !raw.isWellFormed()) return fault.invalid
    return raw === '' ? fault.says('is empty') : raw
  })
}

const newFile = hash({ file_path: fileName(), content: content() })

const fileStep = hash({
  action: oneOf(['create', 'update', 'delete', 'move']),
  file_path: fileName().optional(),
  previous_path: fileName().optional(),
  content: content().optional(),
})

/** The short form, of a snippet of one file. */
const oneFile = { file_name: fileName().optional(), content: content().optional() }

export const newFilesBody = { files: list(newFile, { max: 1000 }).optional(), ...oneFile }
export const fileStepsBody = { files: list(fileStep, { max: 1000 }).optional(), ...oneFile }

type NewFiles = z.infer<z.ZodObject<typeof newFilesBody>>
type FileStep = z.infer<typeof fileStep>
type FileSteps = z.infer<z.ZodObject<typeof fileStepsBody>>

/** Which of the two ways to give files a new snippet may use: exactly one. */
export function eitherFilesOrContent(sent: ReadonlySet<string>): string[] {
  if (sent.has('files') && (sent.has('content') || sent.has('file_name'))) {
    return ['files, content are mutually exclusive']
  }
  const any = sent.has('files') || sent.has('content')
  return any ? [] : ['files, content are missing, exactly one parameter must be provided']
}

/** The files that a new snippet begins with. */
export function firstActions(ctx: Pick<Ctx, 'settings'>, given: NewFiles): CommitAction[] {
  const files = given.files ?? [
    { file_path: given.file_name || FIRST_NAME, content: given.content ?? '' },
  ]
  if (files.length === 0) throw badParameters('files is empty')
  assertFewFiles(files.length)
  return files.map((file) => ({
    kind: 'create',
    path: file.file_path.trim() || FIRST_NAME,
    content: asBytes(ctx, file.content),
  }))
}

/** What an update does to the files that a snippet has; the short form is for those of one file. */
export function nextActions(
  ctx: Pick<Ctx, 'settings'>,
  given: FileSteps,
  paths: readonly string[],
): CommitAction[] {
  if (given.files) {
    assertFewFiles(given.files.length)
    return given.files.map((step, index) => asAction(ctx, step, index))
  }
  if (given.content === undefined && !given.file_name) return []
  const [path] = paths
  if (path === undefined || paths.length > 1) {
    throw badRequest('To update Snippets with multiple files, you must use the `files` parameter')
  }
  const bytes = given.content === undefined ? undefined : asBytes(ctx, given.content)
  if (given.file_name && given.file_name !== path) {
    return [{ kind: 'move', previousPath: path, path: given.file_name, content: bytes }]
  }
  return bytes ? [{ kind: 'update', path, content: bytes }] : []
}

function asAction(ctx: Pick<Ctx, 'settings'>, step: FileStep, index: number): CommitAction {
  const missing = (name: string) => badParameters(`files[${index}][${name}] is missing`)
  const path = step.file_path ?? (step.action === 'create' ? FIRST_NAME : undefined)
  if (path === undefined) throw missing('file_path')
  if (step.action === 'delete') return { kind: 'delete', path }
  const bytes = step.content === undefined ? undefined : asBytes(ctx, step.content)
  if (step.action === 'move') {
    if (step.previous_path === undefined) throw missing('previous_path')
    return { kind: 'move', previousPath: step.previous_path, path, content: bytes }
  }
  if (bytes === undefined) throw missing('content')
  return { kind: step.action, path, content: bytes }
}

function assertFewFiles(count: number): void {
  if (count > MOST_FILES) {
    throw invalid({ files: [`have to contain between 1 and ${MOST_FILES} files`] })
  }
}

function asBytes(ctx: Pick<Ctx, 'settings'>, content: string): Buffer {
  const bytes = Buffer.from(content)
  const limit = ctx.settings.get('snippet_size_limit')
  if (bytes.length > limit) {
    throw invalid({
      content: [`is too long (${bytes.length} bytes). The maximum size is ${limit} bytes.`],
    })
  }
  return bytes
}
