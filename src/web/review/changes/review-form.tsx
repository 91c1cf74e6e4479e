import { useShown } from '../../context.ts'
import { Form } from '../../parts/form.tsx'
import { MarkdownArea } from '../../parts/markdown-area.tsx'
import { DraftView, type ShownDraft } from './drafts.tsx'

interface Props {
  readonly address: string
  readonly drafts: number
  /** Drafts that are about no line. */
  readonly general: readonly ShownDraft[]
  readonly sha: string | null
  readonly mayApprove: boolean
  readonly needsPassword: boolean
  /** Whoever was asked for a review may ask for changes. */
  readonly mayRequestChanges: boolean
}

/** Sends all drafts together, with a verdict. */
export function ReviewForm(props: Props) {
  const { address, drafts, general, sha, mayApprove, needsPassword, mayRequestChanges } = props
  return (
    <details class="menu review-menu" id="review">
      <summary class="button primary" data-hotkey="s" aria-label="Send the review">
        Send the review{drafts > 0 && <span class="count">{drafts}</span>}
      </summary>
      <div class="menu-list wide">
        {general.map((draft) => (
          <DraftView key={draft.id} draft={draft} address={address} />
        ))}
        <Form action={`${address}/review`} class="stack tight" returnTo={address}>
          {sha !== null && <input type="hidden" name="sha" value={sha} />}
          <MarkdownArea name="summary" rows={4} aria-label="Summary" placeholder="Summary" />
          <fieldset class="choices">
            <legend class="label-text">Verdict</legend>
            <Verdict value="comment" label="Comment" checked />
            {mayApprove && <Verdict value="approve" label="Approve" />}
            {mayRequestChanges && <Verdict value="request_changes" label="Request changes" />}
          </fieldset>
          {mayApprove && needsPassword && (
            <label>
              Password, to approve
              <input type="password" name="approval_password" autocomplete="current-password" />
            </label>
          )}
          <p>
            <button type="submit" class="button primary">
              Send
            </button>
          </p>
        </Form>
      </div>
    </details>
  )
}

function Verdict({ value, label, checked = false }: VerdictProps) {
  return (
    <label>
      <input type="radio" name="verdict" value={value} checked={checked} /> {label}
    </label>
  )
}

interface VerdictProps {
  readonly value: string
  readonly label: string
  readonly checked?: boolean
}

/** What the last form did, in a part of a page that was renewed after it. */
export function FlashHere() {
  const { flash } = useShown()
  return flash ? (
    <p class={`note ${flash.kind}`} role={flash.kind === 'alert' ? 'alert' : 'status'}>
      {flash.text}
    </p>
  ) : null
}
