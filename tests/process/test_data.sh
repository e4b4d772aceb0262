#!/usr/bin/env bash
# The user's own arrays: `data` describes the files, nodes learn from them, and the saved model evaluates
# and predicts them: test_data.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

bytes_of() { # numbers of $1 bytes each, little-endian
    local width=$1 number i text=
    shift
    for number in "$@"; do
        for ((i = 0; i < width; i++)); do
            printf -v text '%s\\x%02x' "$text" $((number >> 8 * i & 255))
        done
    done
    printf '%b' "$text"
}

# Writes an array like NumPy, with numbers from standard input: npy FILE TYPE SHAPE [FORTRAN_ORDER]
npy() {
    local header="{'descr': '$2', 'fortran_order': ${4:-False}, 'shape': ($3), }"
    {
        printf '\x93NUMPY\x01\x00'
        bytes_of 2 ${#header}
        printf %s "$header"
        cat
    } >"$dir/$1"
}

# 300 rows of 4 bytes. The class is the position of the large byte; the float target is 1 for
# position 0.
pixels=() classes=() floats=() shifted=() one_hot=() grams=()
for ((i = 0; i < 300; i++)); do
    class=$((i * 7 % 4))
    for ((k = 0; k < 4; k++)); do
        pixels+=($((k == class ? 200 + i % 50 : i * k % 90)))
    done
    classes+=("$class")
    floats+=($((class == 0 ? 0x3f800000 : 0)))
done
bytes_of 1 "${pixels[@]}" | npy x.npy '|u1' '300, 4'
bytes_of 8 "${classes[@]}" | npy y.npy '<i8' '300,'
bytes_of 4 "${floats[@]}" | npy wanted.npy '<f4' '300,'
data=("$hearsay" data)
arrays=(--set data.source=npy --set "data.x=$dir/x.npy" --set "data.y=$dir/y.npy")
numbers=(--set data.source=npy --set "data.x=$dir/x.npy" --set "data.y=$dir/wanted.npy")

tell 'descriptions of files'
expect 0 'x.npy: NumPy array of uint8, shape \(300, 4\)$' "${data[@]}" "$dir/x.npy" "$dir/y.npy"
expect 0 '^  numbers   mean 79.95, deviation 87.4666, from 0 to 249$' "${data[@]}" "$dir/x.npy"
expect 0 '^  column 3 +mean ' "${data[@]}" "$dir/x.npy"
expect 0 '^  200  0  0  0$' "${data[@]}" --samples 1 "$dir/x.npy"
expect 0 'y.npy: NumPy array of int64, shape \(300,\)$' "${data[@]}" "$dir/y.npy"
expect 0 '^  labels    4 different values, from 0 to 3; entropy 2.000 bits each$' "${data[@]}" "$dir/y.npy"
expect 0 '^ +2 +75$' "${data[@]}" "$dir/y.npy"
expect 0 'wanted.npy: NumPy array of float32' "${data[@]}" "$dir/wanted.npy"
printf 'to be, or not to be\n' >"$dir/text.txt"
expect 0 'text.txt: text, 20 bytes$' "${data[@]}" "$dir/text.txt"
expect 0 '^  to be, or not to be$' "${data[@]}" "$dir/text.txt"
gzip -k "$dir/text.txt"
expect 0 '^  bytes     9 of 256 values occur; entropy 2.9' "${data[@]}" "$dir/text.txt.gz"
bytes_of 2 5 7 5 9 >"$dir/tokens.bin"
expect 0 'tokens.bin: tokens of 16 bits, 4 tokens$' "${data[@]}" "$dir/tokens.bin"
expect 0 '^  5 7 5 9 ' "${data[@]}" "$dir/tokens.bin"
{
    printf '\0\0\x08\x03\0\0\0\x01\0\0\0\x08\0\0\0\x08'
    bytes_of 1 {0..7} {0..7} {0..7} {0..7} 255 255 255 255 0 0 0 0 255 255 255 255 0 0 0 0 {0..15}
} >"$dir/picture"
expect 0 'picture: IDX, images, shape \(1, 8, 8\)$' "${data[@]}" "$dir/picture"
expect 0 '^  @@@@    $' "${data[@]}" "$dir/picture"

tell 'descriptions of training data'
expect 0 '^training    270 samples of 1x1x4 \(shard 1/1\)$' "${data[@]}" "${arrays[@]}"
expect 0 '^test        30 samples$' "${data[@]}" "${arrays[@]}"
expect 0 '^numbers     bytes: mean .*; normalised to mean 0 and deviation 1$' "${data[@]}" "${arrays[@]}"
expect 0 '^classes     4, of which 4 occur in the training data' "${data[@]}" "${arrays[@]}"
expect 0 '^  200  0  0  0  ->  0$' "${data[@]}" "${arrays[@]}"
expect 0 '^predicted   1 number per sample: mean 0.25' "${data[@]}" "${numbers[@]}"
expect 0 '^classes     10, ' "${data[@]}" --set data.source=generated --samples 2
expect 0 '^vocabulary  256, of which 9 occur' "${data[@]}" --set data.source=text \
    --set "data.text=$dir/text.txt" --set "data.valid=$dir/text.txt.gz" --set data.context=4

expect 0 '^augmented, as in training:$' "${data[@]}" --set data.source=generated \
    --set data.flip=yes --set data.crop=4 --set data.cutout=8

tell 'images with their channels last, and float64'
bytes_of 1 "${pixels[@]:0:768}" | npy last.npy '|u1' '4, 8, 8, 3'
expect 0 'NumPy array of uint8, shape \(4, 8, 8, 3\), channels last: read as \(4, 3, 8, 8\)$' \
    "${data[@]}" "$dir/last.npy"
expect 0 '"shape":\[4,8,8,3\],"read_as":\[4,3,8,8\]' "${data[@]}" --json "$dir/last.npy"
expect 0 '"shape":\[300\],"read_as":null' "${data[@]}" --json "$dir/y.npy"
bytes_of 1 "${pixels[@]:0:512}" | npy unclear.npy '|u1' '1, 16, 8, 4'
expect 1 'say which: data.channels = first, or last' "${data[@]}" "$dir/unclear.npy"
for ((i = 0; i < 40; i++)); do
    bytes_of 8 $((i % 2 * 0x3ff0000000000000))
done | npy float64.npy '<f8' '40,'
bytes_of 1 "${pixels[@]}" "${pixels[@]}" "${pixels[@]}" "${pixels[@]}" "${pixels[@]}" "${pixels[@]}" \
    "${pixels[@]:0:480}" | npy photos.npy '|u1' '40, 8, 8, 3'
photos=(--set data.source=npy --set "data.x=$dir/photos.npy" --set "data.y=$dir/float64.npy")
expect 0 '^  labels    2 different values, from 0 to 1' "${data[@]}" "$dir/float64.npy"
expect 0 '^  note      these float64 values look like labels' "${data[@]}" "$dir/float64.npy"
expect 0 '^note        data.x stores the channels of images last' "${data[@]}" "${photos[@]}"
expect 0 '^note        data.y: its float64 values look like 2 classes' "${data[@]}" "${photos[@]}"

tell 'targets that are likely mistakes'
for ((i = 0; i < 300; i++)); do
    shifted+=("$((classes[i] + 1))")
    one_hot+=($((classes[i] == 0 ? 0x3f800000 : 0)) $((classes[i] ? 0x3f800000 : 0)))
    grams+=($((0x447a0000 + i * 8192))) # 1000 and more
done
bytes_of 8 "${shifted[@]}" | npy shifted.npy '<i8' '300,'
bytes_of 4 "${one_hot[@]}" | npy one_hot.npy '<f4' '300, 2'
bytes_of 4 "${grams[@]}" | npy grams.npy '<f4' '300,'
expect 0 '^  note      1 of the 5 classes .* does not occur; class 0 is one of them: number the classes from 0' \
    "${data[@]}" "$dir/shifted.npy"
expect 0 '^note        no sample has label 0, only labels 1 .. 4: number the classes from 0' \
    "${data[@]}" "${arrays[@]}" --set "data.y=$dir/shifted.npy"
expect 0 '^note        data.y holds one-hot labels' "${data[@]}" "${arrays[@]}" --set "data.y=$dir/one_hot.npy"
expect 0 '^note        data.y holds numbers of mean 1[0-9]* and deviation .* not normalised' \
    "${data[@]}" "${arrays[@]}" --set "data.y=$dir/grams.npy"

tell 'messages about invalid data'
bytes_of 2 0 1 2 | npy float16.npy '<f2' '3,'
bytes_of 4 1 2 3 4 | npy fortran.npy '<f4' '2, 2' True
bytes_of 4 1 2 3 4 | npy big.npy '>i4' '4,'
bytes_of 4 0 0x7fc00000 0 0x7f800000 | npy nan.npy '<f4' '4,'
bytes_of 4 0 0x7fc00000 | npy nan2.npy '<f4' '2,'
bytes_of 4 0 0x3fffffff 4294967295 2 | npy negative.npy '<i4' '4,'
bytes_of 4 1 2 3 | npy short.npy '<f4' '4,'
bytes_of 8 1 2 3 4 | npy int64.npy '<i8' '2, 2'
expect 1 'float16.npy: holds float16, .*astype\(np.float32\)' "${data[@]}" "$dir/float16.npy"
expect 1 'fortran.npy: lies in Fortran order' "${data[@]}" "$dir/fortran.npy"
expect 1 'big.npy: is big endian' "${data[@]}" "$dir/big.npy"
expect 1 'nan.npy: sample 1 holds NaN' "${data[@]}" "$dir/nan.npy"
expect 1 'negative.npy: the label of sample 1 is 1073741823' "${data[@]}" "$dir/negative.npy"
expect 1 'short.npy: announces 16 bytes of numbers and holds 12: it is cut short' \
    "${data[@]}" "$dir/short.npy"
expect 1 'int64.npy: holds int64, and samples are uint8 or float32' "${data[@]}" "$dir/int64.npy"
expect 1 'unknown format; convert the file' "${data[@]}" "$hearsay"
expect 1 'cannot be opened: No such file' "${data[@]}" "$dir/nowhere.npy"
expect 1 'shape \(300, 4\)' "${data[@]}" "$dir/nan.npy" "$dir/x.npy" # also describes the valid files
expect 1 'data.x has 300 samples and data.y 4;' "${data[@]}" "${arrays[@]}" \
    --set "data.y=$dir/nan.npy"
expect 2 'data.flip, crop and cutout apply to images only, but the samples are 1 x 4;' \
    "${data[@]}" "${arrays[@]}" --set data.flip=yes
expect 2 'data.crop = 28 is too large for images of 28 x 28; lower it' \
    "${data[@]}" --set data.source=generated --set data.crop=28
expect 2 'data.cutout = 29 is too large for images of 28 x 28' \
    "${data[@]}" --set data.source=generated --set data.crop=27 --set data.cutout=29
expect 2 'data.classes = 3, but local labels go up to 9' \
    "${data[@]}" --json --set data.source=generated --set data.classes=3
expect 2 'data. source = npy needs x and y' "${data[@]}" --set data.source=npy
expect 2 'give either FILEs, or --config and --set' "${data[@]}" "${arrays[@]}" "$dir/x.npy"
expect 2 'a whole number from 0 to 16' "${data[@]}" --samples 17
cp "$dir/x.npy" "$dir/test_x.npy"
head -c 300 /dev/zero | npy test_y.npy '|u1' '300,'
expect 0 '^note        the test data lack 3 of the 4 classes' "${data[@]}" "${arrays[@]}" \
    --set "data.test_x=$dir/test_x.npy" --set "data.test_y=$dir/test_y.npy"
bytes_of 4 0x42c80000 0x43480000 | npy far.npy '<f4' '2,'
expect 0 '^note        data.x holds floats of mean 100 and deviation 0,.* not normalised' "${data[@]}" \
    --set data.source=npy --set "data.x=$dir/far.npy" --set "data.y=$dir/far.npy"

# Writes a greyscale PNG of one row, in a stored block of deflate: png FILE WIDTH PIXEL...
be32() { bytes_of 1 $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) $(($1 >> 8 & 255)) $(($1 & 255)); }
chunk() { # chunk TYPE, with data from standard input; gzip computes the checksum
    local file=$dir/chunk
    { printf %s "$1" && cat; } >"$file"
    be32 $(($(wc -c <"$file") - 4))
    cat "$file"
    gzip -c "$file" | tail -c 8 | head -c 4 | od -An -tu1 |
        { read -r a b c d && bytes_of 1 "$d" "$c" "$b" "$a"; }
}
png() {
    local file=$1 width=$2 a=1 b=0 byte
    shift 2
    for byte in 0 "$@"; do
        a=$(((a + byte) % 65521)) b=$(((b + a) % 65521))
    done
    {
        printf '\x89PNG\r\n\x1a\n'
        { be32 "$width" && be32 1 && bytes_of 1 8 0 0 0 0; } | chunk IHDR
        { bytes_of 1 0x78 1 1 && bytes_of 2 $((width + 1)) $((65535 - width - 1)) &&
            bytes_of 1 0 "$@" && be32 $((b << 16 | a)); } | chunk IDAT
        chunk IEND </dev/null
    } >"$dir/$file"
}

above() {
    local part
    part=$(grep -oE '"(accuracy|r2)":-?[0-9.]+' "$dir/$1.log" | sed 's/.*://; $!d')
    [[ -n $part ]] && awk -v part="$part" -v least="$2" 'BEGIN { exit !(part > least) }'
}
learn=(--set 'model.layers=dense 16, tanh, dense 4' --set train.rate=0.05 --set train.evaluate_s=0.5)

tell 'two nodes learn classes from half of the data each'
start one "${learn[@]}" "${arrays[@]}" --set data.shard=1/2
address=$(address_of one)
start two "${learn[@]}" "${arrays[@]}" --set data.shard=2/2 --set "node.peers=$address"
for name in one two; do
    wait_for 60 "$name to learn" above "$name" 0.95
done

tell 'a site without the highest class, and with brighter images, learns the same task'
few=() brighter=()
for ((i = 0; i < 300; i++)); do
    class=$((i % 3))
    for ((k = 0; k < 4; k++)); do
        brighter+=($((k == class ? 220 + i % 30 : 20 + i * k % 90)))
    done
    few+=("$class")
done
bytes_of 1 "${brighter[@]}" | npy brighter.npy '|u1' '300, 4'
bytes_of 8 "${few[@]}" | npy few.npy '<i8' '300,'
site=(--set data.source=npy --set "data.x=$dir/brighter.npy" --set "data.y=$dir/few.npy" --set "node.peers=$address")
start site "${learn[@]}" "${site[@]}"
wait_for 40 'site to join' shows site '"stage":"running"'
notes site 'the model has 4 outputs, but local labels go up to 2' || fail 'the note of site does not name the missing classes'
wait_for 40 'a warning of other labels' notes site \
    'another range of labels .*: data.labels = 0 .. 3 .here 0 .. 2.'
wait_for 40 'a warning of other images' notes site 'has other values for settings.*data.mean = [0-9.]+ .here [0-9.]+.'
mean=$(sed -n 's/.*data.mean = \([0-9.]*\) .*/\1/p' "$dir/site.log" | head -n 1)
leave site
rm -r "$dir/site" "$dir/site.log"
start site "${learn[@]}" "${site[@]}" --set "data.mean=$mean" --set data.classes=4
wait_for 40 'site to join' shows site '"stage":"running"'
wait_for 40 'site to receive rumors' shows site '"rumors_received":[1-9]'
! notes site 'has other values for settings' || fail 'site warns of equal settings'
! notes site 'local labels go up to' || fail 'site warns although data.classes is set'
leave site

tell 'a site whose samples are all of class 0 says so'
head -c 300 /dev/zero | npy zeros.npy '|u1' '300,'
start zeros "${learn[@]}" --set data.source=npy --set "data.x=$dir/brighter.npy" --set "data.y=$dir/zeros.npy" \
    --set "node.peers=$address"
wait_for 40 'a warning of other labels' notes zeros 'data.labels = 0 .. 3 .here 0 .. 0.'
notes zeros 'the model has 4 outputs, but local labels go up to 0' || fail 'the note names another label'
leave zeros

tell 'a model for numbers'
start other "${learn[@]}" "${numbers[@]}" --set 'model.layers=dense 16, tanh, dense 1' \
    --set "node.peers=$address" --alone
wait_for 40 'other to be refused' says "$dir/other.err" \
    'other model: theirs classes, ours regression; .*data.task'
wait_for 60 'other to learn alone' above other 0.5
says "$dir/other.err" 'the base: error [0-9.e-]+ \(root mean square\), R² [01]\.' || fail 'no error'
leave other
leave one
leave two
says "$dir/one.log" '"note":"final".*"accuracy":' || fail 'no accuracy at the end'
says "$dir/other.log" '"note":"final".*"rmse":[0-9.e-]*,"r2":(0\.[5-9]|1)' || fail 'no R2 at the end'

tell 'evaluations of the saved model'
eval=("$hearsay" eval --state "$dir/two")
expect 0 '^accuracy  (100|9[0-9])\.[0-9]* % \([0-9]* of 300 test samples\)$' \
    "${eval[@]}" --x "$dir/x.npy" --y "$dir/y.npy"
expect 0 'of 30 test samples' "${eval[@]}" "${arrays[@]}"
expect 0 'of 30 test samples' "${eval[@]}" # data of the node's configuration
expect 0 'of 30 test samples' "$hearsay" eval --state "$dir/two/base.safetensors"
expect 0 '^config    .*/two/started.conf$' "$hearsay" eval --state "$dir/two/base.safetensors"
mkdir "$dir/moved"
cp "$dir/two/base.safetensors" "$dir/moved"
expect 1 'no started.conf beside .*; name the data .* --config FILE, or with --x' \
    "$hearsay" eval --state "$dir/moved/base.safetensors"
expect 0 '^config    none' "$hearsay" eval --state "$dir/moved" --x "$dir/x.npy" --y "$dir/y.npy"
sed 's/^channels = .*/channels = first/' "$dir/two/started.conf" >"$dir/moved/started.conf"
bytes_of 1 0 | npy label.npy '|u1' '1,'
expect 1 'the model is for 1x1x4 samples of 4 classes, the test set has 16x8x4' \
    "$hearsay" eval --state "$dir/moved/base.safetensors" --x "$dir/unclear.npy" --y "$dir/label.npy"
expect 0 'of 30 test samples' "$hearsay" eval --config "$dir/two/started.conf" --state "$dir/two/base.safetensors"
mv "$dir/x.npy" "$dir/away.npy"
expect 1 'x.npy: cannot be opened.*started.conf beside the model names the data' "${eval[@]}"
mv "$dir/away.npy" "$dir/x.npy"
expect 2 'none.conf: cannot be opened' "${eval[@]}" --config none.conf
expect 1 'the model predicts 4 classes of 1x1x4 samples, the test set has 1 number of' \
    "${eval[@]}" --x "$dir/x.npy" --y "$dir/wanted.npy"
expect 1 'data.test_y is empty' "${eval[@]}" --x "$dir/x.npy"
eval=("$hearsay" eval --state "$dir/other")
expect 0 '^error     [0-9.e-]* \(root mean square; mean square [0-9.e-]*\) on 300 test samples$' \
    "${eval[@]}" --x "$dir/x.npy" --y "$dir/wanted.npy"
expect 0 '^R2        (0\.[5-9][0-9]*|1\.0000) \(variance of the targets 0\.1875\)$' \
    "${eval[@]}" --x "$dir/x.npy" --y "$dir/wanted.npy"
expect 0 '"rmse": [0-9.e-]*, "r2": (0\.[5-9]|1)[0-9]*, "test_samples": 300' \
    "${eval[@]}" --json --x "$dir/x.npy" --y "$dir/wanted.npy"

tell 'predictions of the saved model'
predict=("$hearsay" predict --state "$dir/two" --input)
bytes_of 1 10 20 220 30 240 0 0 0 | npy two.npy '|u1' '2, 4'
expect 0 '^     0  2 (100|[5-9][0-9])\.[0-9]* %, [013] [0-9.]* %, ' "${predict[@]}" "$dir/two.npy"
expect 0 '^     1  0 (100|[5-9][0-9])\.[0-9]* %$' "${predict[@]}" "$dir/two.npy" --top 1
expect 0 '^\{"file":"[^"]*","sample":1,"classes":\[0,.,.,.\],"probabilities":\[(0\.[5-9]|1)[0-9.]*,' \
    "${predict[@]}" "$dir/two.npy" --json
png grey.png 4 10 20 220 30
"${predict[@]}" "$dir/two.npy" | head -n 1 >"$dir/of_npy"
"${predict[@]}" "$dir/grey.png" | cmp - "$dir/of_npy" || fail 'the prediction of a PNG differs from that of its bytes'
predict=("$hearsay" predict --state "$dir/other" --input)
expect 0 '^     1  (0\.[5-9]|1)[0-9.]*$' "${predict[@]}" "$dir/two.npy"
expect 0 '"sample":0,"numbers":\[-?[0-9.e-]*\]' "${predict[@]}" "$dir/two.npy" --json

tell 'invalid data are refused'
png wide.png 5 10 20 220 30 0
head -c 60 "$dir/grey.png" >"$dir/cut.png"
expect 1 'wide.png: the image has 5 x 1 pixels, but the model takes 4 x 1' "${predict[@]}" "$dir/wide.png"
expect 1 'cut.png: is damaged: ' "${predict[@]}" "$dir/cut.png"
expect 1 'y.npy: its shape is \[300\], and the model takes n samples as \[n, 4\]; give samples of that' \
    "${predict[@]}" "$dir/y.npy"
bytes_of 1 10 20 220 30 | npy single.npy '|u1' '4,'
expect 1 'single.npy: its shape is \[4\], .*; give one sample as x\[None\]' "${predict[@]}" "$dir/single.npy"
bytes_of 1 10 20 220 30 10 20 220 30 | npy square.npy '|u1' '2, 2, 2'
expect 1 'square.npy: its shape is \[2, 2, 2\], .*; x.reshape\(-1, 4\) has it' \
    "${predict[@]}" "$dir/square.npy"
bytes_of 4 0 0 0 0 | npy floats.npy '<f4' '1, 4'
expect 1 'floats.npy: contains float32, but the model was trained on bytes' "${predict[@]}" "$dir/floats.npy"
expect 1 'text.txt: is not a .npy file' "${predict[@]}" "$dir/text.txt"
expect 1 'nowhere: cannot be opened' "${predict[@]}" "$dir/nowhere"
expect 1 'none.safetensors: ' "$hearsay" predict --state "$dir/none.safetensors" "$dir/two.npy"
expect 2 'there is nothing to predict' "$hearsay" predict
expect 2 'a whole number from 1 to 100' "${predict[@]}" "$dir/two.npy" --top 0

tell 'hearsay swarm learns numbers'
expect 0 '^Its R2 is [0-9.]* %: the target of 50 % is met' "$hearsay" swarm --nodes 2 --data npy \
    --set "data.x=$dir/x.npy" --set "data.y=$dir/wanted.npy" --layers 'dense 16, tanh, dense 1' \
    --target 50
says "$dir/said.out" '^All nodes hold the same model, bit for bit' || fail 'the nodes end with different models'

tell 'hearsay doctor checks the data'
doctor=("$hearsay" doctor "${small[@]}" --set "node.identity=$dir/one.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/none")
expect 0 '^ok    data: 270 training samples .shard 1/1., 30 test samples, 1x1x4, 4 classes$' \
    "${doctor[@]}" "${learn[@]}" "${arrays[@]}"
expect 0 '^ok    data: .*, 1x1x4, 1 output \(regression\)$' \
    "${doctor[@]}" "${numbers[@]}" --set 'model.layers=dense 1'
expect 0 '^WARN  data: data.y holds whole numbers 0 .. 1 and is learned as numbers' \
    "${doctor[@]}" "${numbers[@]}" --set 'model.layers=dense 1'
expect 0 '^ok    data: .*, 1x1x4, 2 classes$' \
    "${doctor[@]}" "${numbers[@]}" --set 'model.layers=dense 2' --set data.classes=2
expect 1 '^FAIL  model: .*the last layer must be .dense 1., one output per number of y .for classes, store y as integers or set data.task = classes' \
    "${doctor[@]}" "${learn[@]}" "${numbers[@]}"
expect 1 '^FAIL  data: .*nan2.npy: sample 1 holds NaN' \
    "${doctor[@]}" "${numbers[@]}" --set "data.x=$dir/far.npy" --set "data.y=$dir/nan2.npy"

tell 'done'
