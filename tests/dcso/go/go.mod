module dcso

go 1.19

require github.com/DCSO/bloom v0.2.4
