import { renderMarkdown } from '../../../markdown/render.ts'
import { findSuggestions, withoutSuggestions } from '../../../review/suggestions/parse.ts'
import type { PageCtx } from '../../page-ctx.ts'
import { ButtonForm, Form } from '../../parts/form.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { MarkdownArea } from '../../parts/markdown-area.tsx'
import type { ProjectData } from '../../project/frame.tsx'
import { SuggestedLines } from '../suggestions.tsx'
import type { Draft, FileDiff } from './change-set.ts'
import { newLines } from './lines.ts'

export interface ShownDraft extends Draft {
  readonly html: string
  readonly suggestions: readonly { readonly from: string; readonly to: string }[]
}

/** A draft as its author sees it: rendered, its suggestions as the changes that they would be. */
export async function showDraft(
  ctx: PageCtx,
  project: ProjectData,
  draft: Draft,
  diff: FileDiff | undefined,
): Promise<ShownDraft> {
  const text = draft.position ? withoutSuggestions(draft.note) : draft.note
  return {
    ...draft,
    html: await renderMarkdown(ctx, text, project.path_with_namespace),
    suggestions: suggestionsOf(draft, diff),
  }
}

function suggestionsOf({ note, position }: Draft, diff: FileDiff | undefined) {
  const line = position?.new_line
  if (line === null || line === undefined) return []
  const lines = newLines(diff)
  return findSuggestions(note).map(({ above, below, content }) => {
    const count = above + below + 1
    const numbers = Array.from({ length: count }, (_, index) => line - above + index)
    return { from: numbers.map((at) => `${lines.get(at) ?? ''}\n`).join(''), to: content }
  })
}

interface Props {
  readonly draft: ShownDraft
  readonly address: string
  readonly part?: string
  /** The version that it was written on, where that is not the one that is shown. */
  readonly madeOn?: string | undefined
}

/** A comment that is kept until the review is sent; nobody else sees it. */
export function DraftView({ draft, address, part, madeOn }: Props) {
  const own = `${address}/drafts/${draft.id}`
  return (
    <article class="box draft stack tight" id={`draft_${draft.id}`}>
      <p class="row quiet">
        <span class="label">draft</span>
        {madeOn !== undefined && <span class="label">{madeOn}</span>} Only you see it until you send
        the review.
      </p>
      <Markdown html={draft.html} />
      {draft.suggestions.map(({ from, to }) => (
        <SuggestedLines key={`${from}${to}`} from={from} to={to} />
      ))}
      <details>
        <summary>Edit</summary>
        <Form action={`${own}/update`} class="stack tight" quiet={part}>
          <MarkdownArea name="note" rows={4} required aria-label="Draft" value={draft.note} />
          <p>
            <button type="submit" class="button">
              Keep the draft
            </button>
          </p>
        </Form>
      </details>
      <div class="row">
        <ButtonForm
          action={`${own}/delete`}
          label="Throw away"
          kind="danger"
          confirm="Throw this draft away?"
          quiet={part}
        />
      </div>
    </article>
  )
}
