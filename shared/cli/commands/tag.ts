import { repeated } from '../frame/arguments.ts'
import { type ChangeOptions, carryOut, dryRunOption, guarded, ifMatchOption } from '../frame/changes.ts'
import { type Cli, examples } from '../frame/command.ts'
import { documentNamed } from '../frame/names.ts'

type Options = ChangeOptions & { remove?: string[] }

/** `tag`: the tags of a document. */
export function registerTag({ program, run }: Cli): void {
  program
    .command('tag')
    .argument('<document>', 'id, svc://doc/…, address of the page, or path')
    .argument('[tags...]', 'tags to add')
    .summary('show, add or remove the tags of a document')
    .description('Adds tags to a document, or removes some. Other tags stay. Prints the tags that the document has.')
    .option('--remove <tag>', 'tag to remove; may be repeated', repeated)
    .addOption(ifMatchOption())
    .addOption(dryRunOption())
    .addHelpText('after', examples(['tag Zoo/Mammals/Elephants mammal grey --remove draft', 'add two, remove one']))
    .action((name: string, add: string[], options: Options) =>
      run(async ({ out, connect }) => {
        const connection = await connect()
        const { api } = connection.service
        const { id } = await documentNamed(connection, name)
        const remove = options.remove ?? []
        const show = ({ tags }: { tags: string[] }) => {
          for (const tag of tags) out.line(tag)
        }
        const path = { id }
        if (add.length + remove.length === 0) {
          const { data } = await api.GET('/documents/{id}', { params: { path } })
          return out.answer(data, () => show(data))
        }
        const body = { tags_patch: { add, remove } }
        const told = [...add.map((tag) => `+${tag}`), ...remove.map((tag) => `-${tag}`)].join(' ')
        const make = () => api.PATCH('/documents/{id}', { params: { path, ...guarded(options) }, body })
        await carryOut(out, [{ word: 'Tagged', told: `${id} ${told}`, request: { id, ...body }, make, show }], options)
      }),
    )
}
