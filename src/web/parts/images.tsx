import { useShown } from '../context.ts'
import { addressIn } from './link.tsx'

/** Whether browsers show such a file as a picture. */
export function isImage({ new_path: path }: { readonly new_path: string }): boolean {
  return /\.(?:png|jpe?g|gif|webp|avif|bmp|ico)$/i.test(path)
}

/** A picture, and the branch or commit that has it so. */
export interface Picture {
  readonly at: string
  readonly of: string
}

interface Props {
  readonly before?: Picture | undefined
  readonly after?: Picture | undefined
}

const ways = [
  ['beside', 'Side by side'],
  ['swipe', 'Swipe'],
  ['onion', 'Onion skin'],
] as const

/** A picture as it was beside what it is now. With script one can be drawn over the other, or shine through it. */
export function Images({ before, after }: Props) {
  return (
    <div class="compared" data-compared="beside">
      {before && after && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would stand in the form's own list of fields
        <div class="row" role="group" aria-label="How the pictures are compared" data-script hidden>
          {ways.map(([way, label]) => (
            <button
              key={way}
              type="button"
              class="button"
              data-compare={way}
              aria-pressed={way === 'beside'}
            >
              {label}
            </button>
          ))}
          <input
            type="range"
            min={0}
            max={100}
            value={50}
            aria-label="How much of the new picture is seen"
            data-share
            hidden
          />
        </div>
      )}
      <div class="images">
        {before && <Side picture={before} label="Before" kind="before" />}
        {after && <Side picture={after} label="After" kind="after" />}
      </div>
    </div>
  )
}

interface SideProps {
  readonly picture: Picture
  readonly label: string
  readonly kind: 'before' | 'after'
}

function Side({ picture: { at, of }, label, kind }: SideProps) {
  const shown = useShown()
  return (
    <figure class={kind}>
      <figcaption class="quiet">
        {label}, <code>{of}</code>
      </figcaption>
      <img src={addressIn(shown, at)} alt={label} loading="lazy" />
    </figure>
  )
}
