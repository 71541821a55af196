/* What the scene is drawn on: a canvas in the page, SVG in a file. Pixels, y downwards. */
import { visible } from "../common/text";

export interface Surface {
	rect(x: number, y: number, width: number, height: number, colour: string): void;
	line(points: readonly (readonly [number, number])[], colour: string, width: number): void;
	/* Foreign text is made visible; what is wider than `most` is cut. y is its middle. */
	text(x: number, y: number, text: string, colour: string, most: number, style?: TextStyle): void;
}

export interface TextStyle {
	size?: number;
	bold?: boolean;
	right?: boolean;
}

export const FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
const SIZE = 12;

export class CanvasSurface implements Surface {
	private font = "";

	constructor(private readonly context: CanvasRenderingContext2D) {}

	rect(x: number, y: number, width: number, height: number, colour: string): void {
		this.context.fillStyle = colour;
		this.context.fillRect(x, y, width, height);
	}

	line(points: readonly (readonly [number, number])[], colour: string, width: number): void {
		this.context.strokeStyle = colour;
		this.context.lineWidth = width;
		this.context.lineJoin = "round";
		this.context.beginPath();
		points.forEach(([x, y], i) => (i ? this.context.lineTo(x, y) : this.context.moveTo(x, y)));
		this.context.stroke();
	}

	text(x: number, y: number, text: string, colour: string, most: number, style: TextStyle = {}): void {
		const font = `${style.bold ? "600 " : ""}${style.size ?? SIZE}px ${FONT}`;

		if (font !== this.font)
			this.context.font = this.font = font;
		this.context.fillStyle = colour;
		this.context.textBaseline = "middle";
		this.context.textAlign = style.right ? "right" : "left";
		this.context.fillText(this.cut(visible(text), most), x, y);
	}

	/* A long command line is not measured whole: each character is some pixels wide. */
	private cut(text: string, most: number): string {
		let shown = text.slice(0, Math.ceil(most / 2));

		if (most <= 0)
			return "";
		if (shown.length === text.length && this.context.measureText(shown).width <= most)
			return shown;
		while (shown && this.context.measureText(`${shown}…`).width > most)
			shown = shown.slice(0, Math.min(shown.length - 1, Math.ceil(shown.length * 0.95)));
		return shown && `${shown}…`;
	}
}

/* XML 1.0 allows neither < nor & in text, and no control character at all: those were made visible. */
export function escapeXml(text: string): string {
	const named: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&#39;" };

	/* Lone surrogates are no characters either. */
	return visible(text).replaceAll(/[<>&"'\ufffe\uffff]|\p{Cs}/gu, (each) => named[each] ?? "\ufffd");
}

function round(value: number): string {
	return String(Math.round(value * 100) / 100);
}

export class SvgSurface implements Surface {
	private readonly parts: string[] = [];

	rect(x: number, y: number, width: number, height: number, colour: string): void {
		this.parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${colour}"/>`);
	}

	line(points: readonly (readonly [number, number])[], colour: string, width: number): void {
		const path = points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");

		this.parts.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="${width}"/>`);
	}

	/* Nobody measures text here: a character is taken for as wide as they are on average in the widest of these fonts. */
	text(x: number, y: number, text: string, colour: string, most: number, style: TextStyle = {}): void {
		const size = style.size ?? SIZE;
		const fits = Math.floor(most / (size * (style.bold ? 0.68 : 0.6)));
		const seen = visible(text);
		const shown = seen.length > fits ? `${seen.slice(0, Math.max(0, fits - 1))}…` : seen;

		this.parts.push(
			`<text x="${round(x)}" y="${round(y)}" font-size="${size}" fill="${colour}" dominant-baseline="central"` +
				`${style.bold ? ' font-weight="600"' : ""}${style.right ? ' text-anchor="end"' : ""}>${escapeXml(shown)}</text>`,
		);
	}

	document(width: number, height: number, title: string): string {
		return (
			`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"` +
			` font-family="${escapeXml(FONT)}">\n<title>${escapeXml(title)}</title>\n${this.parts.join("\n")}\n</svg>\n`
		);
	}
}
