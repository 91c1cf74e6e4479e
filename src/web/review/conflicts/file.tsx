import type { DataOf } from '../../../http/endpoint.ts'
import type { getMergeRequestConflicts } from '../../../review/merge-requests/conflicts/endpoints.ts'
import { useShown } from '../../context.ts'
import { counted } from '../../parts/basics.tsx'
import type { RequestData } from '../blockers.tsx'
import { type TypedFile, typedFiles } from './fields.ts'

export type ConflictsData = DataOf<typeof getMergeRequestConflicts>
type File = ConflictsData['files'][number]
type Part = NonNullable<File['parts']>[number]
type Section = Extract<Part, { type: 'conflict' }>

const kinds: Readonly<Record<File['kind'], string>> = {
  content: 'both sides changed it',
  both_added: 'both sides added it',
  deleted_by_ours: 'the source branch deleted it, the target changed it',
  deleted_by_theirs: 'the target deleted it, the source branch changed it',
  binary: 'it is no text',
  too_large: 'it is too large to be shown here',
  other: 'its name or kind conflicts',
}

interface FileProps {
  readonly file: File
  readonly request: RequestData
  /** Its place in the form; without one nothing can be chosen. */
  readonly index?: number
}

/** One file: what agrees, and for each conflict both sides, one of which is chosen; or a whole text instead. */
export function FileConflicts({ file, request, index }: FileProps) {
  const { refused } = useShown()
  const typed = refused && typedFiles(refused.values).find(({ path }) => path === file.path)
  const parts = file.parts ?? []
  const sections = parts.filter((part) => part.type === 'conflict')
  const field = index === undefined ? undefined : `files[${index}]`
  return (
    <section class="box">
      <h2 class="box-head">
        <code>{file.path}</code> <span class="conflict-kind">{kinds[file.kind]}</span>
      </h2>
      {field !== undefined && <input type="hidden" name={`${field}[path]`} value={file.path} />}
      {parts.length > 0 && (
        <div class="box-body stack tight">
          {parts.map((part) =>
            part.type === 'same' ? (
              <Same text={part.text} />
            ) : (
              <Choice
                key={part.id}
                part={part}
                request={request}
                title={`Conflict ${sections.indexOf(part) + 1} of ${sections.length}`}
                field={field}
                chosen={typed?.sections[part.id]}
              />
            ),
          )}
          {field !== undefined && <Whole {...{ parts, request, field, typed }} path={file.path} />}
        </div>
      )}
    </section>
  )
}

const near = 3

/** Lines that agree: those next to a conflict. */
function Same({ text }: { text: string }) {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  if (lines.length <= 2 * near + 1) return <code class="conflict-text">{text}</code>
  return (
    <>
      <code class="conflict-text">{lines.slice(0, near).join('')}</code>
      <p class="quiet">{counted(lines.length - 2 * near, 'more line')}</p>
      <code class="conflict-text">{lines.slice(-near).join('')}</code>
    </>
  )
}

interface ChoiceProps {
  readonly part: Section
  readonly request: RequestData
  readonly title: string
  readonly field: string | undefined
  readonly chosen: string | undefined
}

function Choice({ part, request, title, field, chosen }: ChoiceProps) {
  const sides = [
    ['ours', request.source_branch, part.ours],
    ['theirs', request.target_branch, part.theirs],
  ] as const
  return (
    <fieldset class="conflict">
      <legend>{title}</legend>
      {sides.map(([side, branch, text]) => {
        const name = `${side === 'ours' ? 'Ours' : 'Theirs'}, from `
        const lines =
          text === '' ? (
            <span class="quiet">No lines</span>
          ) : (
            <code class="conflict-text">{text}</code>
          )
        if (field === undefined) {
          return (
            <div key={side} class="conflict-side">
              <span>
                {name}
                <code>{branch}</code>
              </span>
              {lines}
            </div>
          )
        }
        const radio = `${field}[sections][${part.id}]`
        return (
          <label key={side} class="conflict-side">
            <span>
              <input type="radio" name={radio} value={side} checked={chosen === side} /> {name}
              <code>{branch}</code>
            </span>
            {lines}
          </label>
        )
      })}
    </fieldset>
  )
}

interface WholeProps {
  readonly parts: readonly Part[]
  readonly request: RequestData
  readonly field: string
  readonly path: string
  readonly typed: TypedFile | null | undefined
}

function Whole({ parts, request, field, path, typed }: WholeProps) {
  const text = markedText(parts, request)
  return (
    <details open={typed?.isWhole === true}>
      <summary>Write the whole text instead</summary>
      <div class="stack tight">
        <label>
          <input
            type="checkbox"
            name={`${field}[whole]`}
            value="true"
            checked={typed?.isWhole === true}
          />{' '}
          Take this text, whatever is chosen above
        </label>
        <input
          type="hidden"
          name={`${field}[newlines]`}
          value={/(?<!\r)\n/.test(text) ? 'lf' : 'crlf'}
        />
        <textarea
          name={`${field}[content]`}
          rows={16}
          class="code-area"
          wrap="off"
          spellcheck={false}
          aria-label={`Text of ${path}`}
        >
          {`\n${typed?.isWhole ? typed.text : text}`}
        </textarea>
      </div>
    </details>
  )
}

/** The text with marks around its conflicts, as git writes it. */
function markedText(parts: readonly Part[], request: RequestData): string {
  const first = parts.map((part) => (part.type === 'same' ? part.text : part.ours + part.theirs))
  const end = /\r\n/.test(first.join('')) ? '\r\n' : '\n'
  const ended = (text: string) => (text === '' || text.endsWith('\n') ? text : text + end)
  return parts
    .map((part) => {
      if (part.type === 'same') return part.text
      const { source_branch: source, target_branch: target } = request
      const ours = `<<<<<<< ${source}${end}${ended(part.ours)}`
      return `${ours}=======${end}${ended(part.theirs)}>>>>>>> ${target}${end}`
    })
    .join('')
}
