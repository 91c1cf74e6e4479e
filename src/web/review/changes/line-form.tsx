import { useShown } from '../../context.ts'
import { type DiffLine, fileId, lineId } from '../../parts/diff-lines.ts'
import { Form } from '../../parts/form.tsx'
import { MarkdownArea } from '../../parts/markdown-area.tsx'
import { changesAddress } from './change-set.ts'
import type { LineSubject } from './line-subject.ts'
import { commentAddress, lineName, placeOf } from './lines.ts'

interface Props {
  readonly subject: LineSubject
  /** The part of the page that is renewed by it. */
  readonly quiet?: string
}

/** What is said about a line, several, or the whole file; at once, or kept for the review. */
export function LineForm({ subject, quiet }: Props) {
  const { refused } = useShown()
  const { set, file, line, name, before } = subject
  const { version } = set
  if (!version) return null
  const at = line ? placeOf(name) : undefined
  const hidden = {
    old_path: file.old_path,
    old_line: at?.old_line,
    new_line: at?.new_line,
    base_sha: version.base_commit_sha,
    start_sha: version.start_commit_sha,
    head_sha: version.head_commit_sha,
  }
  const typed = refused?.values.body
  const isOnNew = line !== undefined && line.kind !== 'removed'
  return (
    <Form
      action={commentAddress(set, file, line ?? 'file')}
      class="stack tight line-form"
      returnTo={`${changesAddress(set)}#${line ? lineId(file, line) : fileId(file)}`}
      quiet={quiet}
    >
      {Object.entries(hidden).map(
        ([key, value]) =>
          value !== undefined &&
          value !== null && <input key={key} type="hidden" name={key} value={value} />,
      )}
      <MarkdownArea
        name="body"
        rows={4}
        aria-label="Comment"
        placeholder="Comment"
        value={typeof typed === 'string' ? typed : ''}
      />
      {line && before.length > 0 && <From before={before} line={line} />}
      {isOnNew && (
        <details>
          <summary>Suggest other lines</summary>
          <textarea
            name="suggestion"
            rows={3}
            class="mono"
            aria-label="Suggested lines"
            data-lines
          >{`\n${line.text}`}</textarea>
          <input type="hidden" name="original" value={line.text} />
        </details>
      )}
      <p class="row">
        <button type="submit" class="button primary" name="keep" value="draft">
          Add to the review
        </button>
        <button type="submit" class="button">
          Comment now
        </button>
      </p>
    </Form>
  )
}

/** Where several lines begin: those of the same side before the last. */
function From({ before, line }: { before: readonly DiffLine[]; line: DiffLine }) {
  const side = line.kind === 'removed' ? 'old' : 'new'
  const skip = side === 'old' ? 'added' : 'removed'
  const lines = before.filter(({ kind }) => kind !== skip)
  return (
    <label class="row">
      From line{' '}
      <select name="from" aria-label="From line">
        <option value="">{line[side]} alone</option>
        {lines.toReversed().map((one) => (
          <option key={lineName(one)} value={lineValue(one)} data-text={one.text}>
            {one[side]}
          </option>
        ))}
      </select>
    </label>
  )
}

/** What is needed to name a line as the start of several: its numbers on both sides, and its kind. */
function lineValue({ kind, old, new: now }: DiffLine): string {
  return `${old}_${now}_${kind === 'added' ? 'new' : kind === 'removed' ? 'old' : ''}`
}
