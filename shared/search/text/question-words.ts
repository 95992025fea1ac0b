import { fold } from './fold.ts'

/**
 * Words by ISO 639-1 language that ask and do not name: interrogatives, auxiliaries, and verbs such as `happen` that
 * go with every subject. Unlike stop words they may be what somebody searches for. So they are left out only where no
 * text has all words of a query.
 */
const lists: Readonly<Record<string, string>> = {
  en: `
    many much often ever whose whether must may might would could shall cannot let lets able possible please happen
    happens happened happening make makes made making get gets got getting give gives gave given giving take takes took
    taken taking need needs needed want wants wanted use uses used using know knows tell tells find finds explain mean
    means go goes going way ways thing things something anything someone somebody anyone anybody actually exactly
    supposed`,
  de: `
    wer wen wem wessen wann warum wieso weshalb weswegen wie wieviel wieviele viele vielen wohin woher womit wofür
    woran worauf wozu wobei wodurch darf darfst dürfen dürfte mag mögen möchte möchten musst müssen sollen sollten
    gibt geben geht gehen mache macht machen tun tut nehme nimmt nehmen brauche braucht brauchen bekomme bekommt
    bekommen finde findet finden heißt bedeutet passiert passieren lange oft bitte eigentlich überhaupt möglich`,
  fr: `
    quoi quand comment pourquoi combien quel quelle quels quelles lequel laquelle lesquels lesquelles où est-ce peux
    peut peuvent pouvez pouvons puis peut-on peut-il peut-elle puis-je dois doit doivent devez dois-je doit-on faut
    faut-il fais fait faire faites font va vais vont aller avoir être veut veux besoin possible prendre prend donner
    donne trouver trouve arrive arriver signifie souvent longtemps`,
  es: `
    qué cuál cuáles cuánto cuánta cuántos cuántas cuándo cómo dónde quién quiénes puedo puede pueden podemos debo debe
    deben debería hace hacer hago hacen quiero quiere necesito necesita necesitan sirve significa pasa ocurre dar tomar
    posible favor veces`,
  it: `
    chi cosa quale quali quanto quanti quanta quante quando come dove perché posso può possono devo deve devono fare fa
    fanno bisogna serve servono vuole voglio significa succede possibile`,
  pt: `
    quem quê qual quais quanto quanta quantos quantas quando como onde porquê posso pode podem devo deve devem fazer
    faz fazem preciso precisa quero quer significa acontece possível`,
  nl: `
    wie wat welk welke wanneer waarom waar hoe hoeveel mag mogen moeten doe doen maak maakt maken geef geeft geven neem
    nemen nodig gebeurt betekent mogelijk`,
  ru: `
    кто какой какая какое какие каких каким какую сколько когда где куда откуда почему зачем чей чья можно нужно надо
    должен должна должно должны делать делает сделать могу может могут хочу хочет значит бывает пожалуйста`,
  ar: 'ماذا ما من متى أين كيف كم لماذا هل أي يمكن يجب',
  ja: 'いつ どこ 誰 何 何時 何人 何日 方法 場合 時',
  zh: `
    什么 怎么 怎样 怎么样 如何 为什么 为何 哪 哪里 哪儿 哪个 哪些 谁 多少 几 吗 呢 吧 能 能否 可以 是否 应该 需要 要
    时候 时 的 了 在 是 我 你 请 请问 把 被 和 与 或 有 没有 不 会 就 都 也 还`,
}

const languagesByWord = new Map<string, Set<string>>()
for (const [language, words] of Object.entries(lists)) {
  for (const word of words.trim().split(/\s+/)) {
    const known = languagesByWord.get(fold(word)) ?? new Set()
    languagesByWord.set(fold(word), known.add(language))
  }
}

/**
 * Whether a word asks and does not name, in one of the given languages. Chinese and Japanese need not be given, since
 * no other language has their characters.
 */
export function isQuestionWord(word: string, languages: readonly string[]): boolean {
  const asking = languagesByWord.get(fold(word))
  if (asking === undefined) return false
  return asking.has('zh') || asking.has('ja') || languages.some((language) => asking.has(language))
}
